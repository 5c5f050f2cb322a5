//go:build arm64 && !purego

package resize

import "github.com/penstock-go/penstock/internal/cpu"

// taps are Weights in the layout of the horizontal kernel: every output has the same
// number of groups of four.
type taps struct {
	row    []int32
	groups int
}

func (t *taps) pack(w *Weights) {
	if !cpu.NEON() {
		return
	}
	most := int32(0)
	for _, c := range w.Count {
		most = max(most, c)
	}
	t.groups = int(most+3) / 4
	t.row = grow(t.row, 4*t.groups*len(w.First))
	for i, count := range w.Count {
		row := t.row[4*t.groups*i:][:4*t.groups]
		clear(row[copy(row, w.K[i*w.Taps:][:count]):])
	}
}

// horizontalKernel computes as many rows as it can, from the first on.
func horizontalKernel(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) (done int) {
	if !cpu.NEON() || rows < 4 {
		return 0
	}
	return horizontalFours(dst, dstStride, src, srcStride, 0, rows, w)
}

func horizontalFour(dst []byte, dstStride int, src []byte, srcStride int, w *Weights) {
	horizontal4(&dst[0], &src[0], dstStride, srcStride, &w.First[0], len(w.First), &w.taps.row[0], w.taps.groups)
}

// verticalKernel computes a whole row if it can, and reports whether it did.
func verticalKernel(dst, src []byte, stride int, w *Weights, i int) bool {
	const block = 32 // bytes
	count, first := int(w.Count[i]), int(w.First[i])*stride
	if !cpu.NEON() || len(dst) < block || count < 1 {
		return false
	}
	_ = src[first+(count-1)*stride+len(dst)-1]
	k := &w.K[i*w.Taps]
	vertical8(&dst[0], &src[first], stride, len(dst)/block, k, count)
	if rest := len(dst) % block; rest > 0 {
		at := len(dst) - block
		vertical8(&dst[at], &src[first+at], stride, 1, k, count)
	}
	return true
}
