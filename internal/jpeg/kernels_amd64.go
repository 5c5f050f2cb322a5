//go:build amd64 && !purego

package jpeg

import "github.com/penstock-go/penstock/internal/cpu"

// fours reports whether inverse4 may run.
func fours() bool { return cpu.AVX512() }

// pairsKernel reports whether decodePairs and reorderKernel may run.
func pairsKernel() bool { return cpu.BMI2() }

func reorderKernel(dst, src *block, last *uint8, n, dstStep, srcStep int) {
	if cpu.AVX512() {
		reorder4(&dst[0], &src[0], last, n, dstStep, srcStep)
	} else {
		reorder(&dst[0], &src[0], last, n, dstStep, srcStep)
	}
}
