//go:build (!amd64 && !arm64) || purego

package resize

// fence moves the weights that the kernels have got: here there are none.
func (f *fences) fence(w *Weights, side int) { w.First = fenced(f.longs[0], side, w.First) }
