//go:build !purego

package resize

// fence moves the weights that the kernels have got.
func (f *fences) fence(w *Weights, side int) {
	w.First = fenced(f.longs[0], side, w.First)
	t := &w.taps
	t.row, t.column = fenced(f.words[0], side, t.row), fenced(f.words[1], side, t.column)
	t.first = fenced(f.longs[1], side, t.first)
	d := &t.digits
	d.row, d.column = fenced(f.digits[0], side, d.row), fenced(f.digits[1], side, d.column)
	d.at, d.first = fenced(f.longs[2], side, d.at), fenced(f.longs[3], side, d.first)
}
