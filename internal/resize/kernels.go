//go:build (amd64 || arm64) && !purego

package resize

//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./resize -out ../../internal/resize/avx2_amd64.s -stubs ../../internal/resize/avx2_amd64.go -pkg resize"
//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./neon -kernels resize -out ../../internal/resize/neon_arm64.s"

// horizontalFours computes four rows at a time, as many as it can, from the first on.
func horizontalFours(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) (done int) {
	n := len(w.First)
	if n == 0 {
		return 0
	}
	// The last group of the last pixel may read beyond the row, but not beyond src.
	reach := 4 * (w.Hi - w.Lo - 1 + 4*w.taps.groups)
	src = src[:cap(src)]
	for ; done+4 <= rows; done += 4 {
		if (done+3)*srcStride+reach > len(src) {
			return done
		}
		_ = dst[(done+3)*dstStride+4*n-1]
		horizontal4(&dst[done*dstStride], &src[done*srcStride], dstStride, srcStride, &w.First[0], n, &w.taps.row[0], w.taps.groups)
	}
	return done
}
