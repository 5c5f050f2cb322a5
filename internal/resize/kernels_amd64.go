//go:build amd64 && !purego

package resize

import "github.com/penstock-go/penstock/internal/cpu"

// taps are Weights in the layout of the kernels. These multiply 16-bit numbers, so
// every weight is split into high·2¹⁵ + low.
type taps struct {
	row    []int16 // per output: groups of four low parts and four high parts
	groups int
	column []int16 // per output: pairs of two low parts and two high parts
	pairs  int
	first  []int32 // per output: the first position of its column, which may have weight zero
}

func (t *taps) pack(w *Weights) {
	if !cpu.AVX2() {
		return
	}
	most := int32(0)
	for _, c := range w.Count {
		most = max(most, c)
	}
	t.groups, t.pairs = int(most+3)/4, int(most+1)/2
	t.row = zeros(t.row, 8*t.groups*len(w.First))
	t.column = zeros(t.column, 4*t.pairs*len(w.First))
	t.first = grow(t.first, len(w.First))
	for i, first := range w.First {
		row, column := t.row[8*t.groups*i:], t.column[4*t.pairs*i:]
		early := 0
		if w.Count[i]%2 == 1 && first > 0 {
			early = 1 // so that the last pair does not reach beyond the last row
		}
		t.first[i] = first - int32(early)
		for j, k := range w.K[i*w.Taps:][:w.Count[i]] {
			low, high := int16(k&(1<<15-1)), int16(k>>15)
			at := j/4*8 + j%4
			row[at], row[at+4] = low, high
			at = (j+early)/2*4 + (j+early)%2
			column[at], column[at+2] = low, high
		}
	}
}

func zeros(s []int16, n int) []int16 {
	if cap(s) < n {
		return make([]int16, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// verticalKernel computes a whole row if it can, and reports whether it did.
func verticalKernel(dst, src []byte, stride int, w *Weights, i int) bool {
	const block = 32 // bytes
	pairs := int(w.Count[i]+1) / 2
	first := int(w.taps.firstOf(i)) * stride
	src = src[:cap(src)]
	if !cpu.AVX2() || len(dst) < block || first+(2*pairs-1)*stride+len(dst) > len(src) {
		return false
	}
	k := &w.taps.column[4*w.taps.pairs*i]
	vertical8(&dst[0], &src[first], stride, len(dst)/block, k, pairs)
	if rest := len(dst) % block; rest > 0 {
		at := len(dst) - block
		vertical8(&dst[at], &src[first+at], stride, 1, k, pairs)
	}
	return true
}

func (t *taps) firstOf(i int) int32 {
	if i >= len(t.first) {
		return 0
	}
	return t.first[i]
}

func lookups16() kernels[uint16] {
	if !cpu.AVX512() {
		return kernels[uint16]{}
	}
	return kernels[uint16]{lookupPixels16, lookupSamples16}
}

func lookups32() kernels[float32] {
	if !cpu.AVX512() {
		return kernels[float32]{}
	}
	return kernels[float32]{lookupPixels32, lookupSamples32}
}
