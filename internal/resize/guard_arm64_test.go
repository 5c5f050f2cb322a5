//go:build !purego

package resize

// fence moves the weights that the kernels have got.
func (f *fences) fence(w *Weights, side int) {
	w.First, w.K = fenced(f.longs[0], side, w.First), fenced(f.longs[1], side, w.K)
	w.taps.row = fenced(f.longs[2], side, w.taps.row)
}
