//go:build amd64 && !purego

package jpeg

import "github.com/penstock-go/penstock/internal/cpu"

// fours reports whether inverse4 and kernels of the widest steps may run.
func fours() bool { return cpu.AVX512() }

// group is how many blocks inverseStretch transforms at once, or 0 if it may not run.
func group() int {
	switch {
	case fours():
		return 4
	case cpu.AVX2():
		return 2
	}
	return 0
}

func inverseStretch(dst *byte, stride int, blocks *block, second, third, step int, quant *block, n int) (left int) {
	if fours() {
		return inverseStretch4(dst, stride, &blocks[0], second, third, step, &quant[0], n)
	}
	return inverseStretch2(dst, stride, &blocks[0], second, step, &quant[0], n)
}

// pairsKernel reports whether the kernels for entropy code may run.
func pairsKernel() bool { return cpu.BMI2() }

func reorderKernel(dst, src *block, last *uint8, n, dstStep, srcStep int) {
	if cpu.AVX512() {
		reorder4(&dst[0], &src[0], last, n, dstStep, srcStep)
	} else {
		reorder(&dst[0], &src[0], last, n, dstStep, srcStep)
	}
}

// unstuffKernel copies the beginning of src without the zeros after bytes of 0xff, up to
// a marker or near the end. It returns how many bytes it has read and written.
func unstuffKernel(dst, src []byte) (read, written int) {
	n := (len(src) - 1) / 64
	if !cpu.VBMI2() || n < 1 {
		return 0, 0
	}
	_ = dst[64*n-1]
	return unstuff64(&dst[0], &src[0], n)
}

func colorSteps(step int, dst, luma, cb, cr *byte, n int) {
	if step == widest {
		colorYCbCr32(dst, luma, cb, cr, n)
	} else {
		colorYCbCr16(dst, luma, cb, cr, n)
	}
}

func upsampleH2Steps(step int, dst, src *byte, n int) {
	if step == widest {
		upsampleH2x32(dst, src, n)
	} else {
		upsampleH2x16(dst, src, n)
	}
}

func upsampleH2V2Steps(step int, dst, near, far *byte, n int) {
	if step == widest {
		upsampleH2V2x32(dst, near, far, n)
	} else {
		upsampleH2V2x16(dst, near, far, n)
	}
}
