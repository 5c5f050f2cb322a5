//go:build (amd64 || arm64) && !purego

package resize

//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./resize -out ../../internal/resize/avx2_amd64.s -stubs ../../internal/resize/avx2_amd64.go -pkg resize"
//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./neon -kernels resize -out ../../internal/resize/neon_arm64.s"

// horizontalFours computes four rows at a time, as many as it can, from row done on. The last four rows may overlap the ones
// before.
func horizontalFours(dst []byte, dstStride int, src []byte, srcStride, done, rows int, w *Weights) int {
	n := len(w.First)
	if n == 0 {
		return done
	}
	// The last group of the last pixel may read beyond the row, but not beyond src.
	reach := 4 * (w.Hi - w.Lo - 1 + 4*w.taps.groups)
	src = src[:cap(src)]
	for done < rows {
		y := min(done, rows-4)
		if (y+3)*srcStride+reach > len(src) {
			return done
		}
		_ = dst[(y+3)*dstStride+4*n-1]
		horizontalFour(dst[y*dstStride:], dstStride, src[y*srcStride:], srcStride, w)
		done = y + 4
	}
	return done
}
