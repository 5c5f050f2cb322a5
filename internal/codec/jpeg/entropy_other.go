//go:build !amd64 || purego

package jpeg

// pairsKernel reports whether the kernels for entropy code may run.
func pairsKernel() bool { return false }

func decodePairs(_ *uint64, _ *byte, _ int, _ **uint64, _ int, _ *int16) bool { return false }

func reorderKernel(_, _ *block, _ *uint8, _, _, _ int) {}

func unstuffKernel(_, _ []byte) (read, written int) { return 0, 0 }

func inverseStretch(_ *byte, _ int, _ *block, _, _, _ int, _ *block, _ int) (left int) { return 0 }

// group is how many blocks inverseStretch transforms at once: it does not exist.
func group() int { return 0 }
