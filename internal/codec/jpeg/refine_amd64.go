//go:build amd64 && !purego

package jpeg

import "github.com/penstock-go/penstock/internal/cpu"

// naturalKernel copies n blocks out of zigzag order.
func naturalKernel(dst, src *block, n int) {
	if cpu.AVX512() {
		natural4(&dst[0], &src[0], n)
	} else {
		natural(&dst[0], &src[0], n)
	}
}

// refineKernel adds the bit to the coefficients of n blocks.
func refineKernel(blocks *block, refinements *uint64, n, bit int) {
	refineBlocks(&blocks[0], refinements, n, bit)
}

// nonzeroKernel sets the masks of the AC coefficients that differ from zero.
func nonzeroKernel(masks []uint64, blocks []block) {
	nonzero(&masks[0], &blocks[0][0], len(blocks))
}
