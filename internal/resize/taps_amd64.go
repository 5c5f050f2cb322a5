//go:build amd64 && !purego

package resize

// taps are Weights in the layout of the AVX2 kernels, made when they are first needed.
// These multiply 16-bit numbers, so every weight is split into high·2¹⁵ + low.
type taps struct {
	row       []int16 // per output: groups of four low parts and four high parts
	groups    int
	column    []int16 // per output: pairs of two low parts and two high parts
	pairs     int
	first     []int32 // per output: the first position of its column, which may have weight zero
	hasRow    bool
	hasColumn bool

	digits digits
}

// pack forgets the weights before these.
func (t *taps) pack(*Weights) {
	t.hasRow, t.hasColumn = false, false
	t.digits.hasRow, t.digits.hasColumn = false, false
}

func (w *Weights) most() int {
	most := int32(0)
	for _, c := range w.Count {
		most = max(most, c)
	}
	return int(most)
}

func (t *taps) packRow(w *Weights) {
	if t.hasRow {
		return
	}
	t.hasRow = true
	t.groups = (w.most() + 3) / 4
	t.row = zeros(t.row, 8*t.groups*len(w.First))
	for i := range w.First {
		row := t.row[8*t.groups*i:]
		for j, k := range w.K[i*w.Taps:][:w.Count[i]] {
			at := j/4*8 + j%4
			row[at], row[at+4] = int16(k&(1<<15-1)), int16(k>>15)
		}
	}
}

func (t *taps) packColumn(w *Weights) {
	if t.hasColumn {
		return
	}
	t.hasColumn = true
	t.pairs = (w.most() + 1) / 2
	t.column = zeros(t.column, 4*t.pairs*len(w.First))
	t.first = grow(t.first, len(w.First))
	for i, first := range w.First {
		column := t.column[4*t.pairs*i:]
		early := 0
		if w.Count[i]%2 == 1 && first > 0 {
			early = 1 // so that the last pair does not reach beyond the last row
		}
		t.first[i] = first - int32(early)
		for j, k := range w.K[i*w.Taps:][:w.Count[i]] {
			at := (j+early)/2*4 + (j+early)%2
			column[at], column[at+2] = int16(k&(1<<15-1)), int16(k>>15)
		}
	}
}

func zeros[T int16 | uint8](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}
