//go:build amd64 && !purego

package resize

import "github.com/penstock-go/penstock/internal/cpu"

// horizontalKernel computes as many rows as it can, from the first on.
func horizontalKernel(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) (done int) {
	if !cpu.AVX2() {
		return 0
	}
	done = w.taps.digits.horizontal(dst, dstStride, src, srcStride, rows, w)
	if done == rows || rows < 4 || len(w.First) < 4 {
		return done
	}
	w.taps.packRow(w)
	return horizontalFours(dst, dstStride, src, srcStride, done, rows, w)
}

// horizontalFour computes four rows. The last four pixels may overlap the ones before.
func horizontalFour(dst []byte, dstStride int, src []byte, srcStride int, w *Weights) {
	kernel, groups := horizontal4, w.taps.groups
	if groups == 1 {
		kernel = horizontal4x1
	}
	quads := func(x, n int) {
		kernel(&dst[4*x], &src[0], dstStride, srcStride, &w.First[x], n, &w.taps.row[8*groups*x], groups)
	}
	n := len(w.First)
	quads(0, n/4)
	if n%4 > 0 {
		quads(n-4, 1)
	}
}

// verticalKernel computes a whole row if it can, and reports whether it did.
func verticalKernel(dst, src []byte, stride int, w *Weights, i int) bool {
	const block = 32 // bytes
	if !cpu.AVX2() || len(dst) < block {
		return false
	}
	if w.taps.digits.vertical(dst, src, stride, w, i) {
		return true
	}
	w.taps.packColumn(w)
	pairs := int(w.Count[i]+1) / 2
	first := int(w.taps.first[i]) * stride
	src = src[:cap(src)]
	if first+(2*pairs-1)*stride+len(dst) > len(src) {
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
