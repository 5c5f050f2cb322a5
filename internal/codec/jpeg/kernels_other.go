//go:build (!amd64 && !arm64) || purego

package jpeg

func inverseKernel(_ []byte, _ int, _ []block, _ []uint8, _ *block) bool { return false }

func colorKernel(_, _, _, _ []byte) bool { return false }

func upsampleH2Kernel(_, _ []byte) bool { return false }

func upsampleH2V2Kernel(_, _, _ []byte) bool { return false }

// pairsKernel reports whether the kernels for entropy code may run.
func pairsKernel() bool { return false }

func decodePairs(_ *uint64, _ *byte, _ int, _ **uint64, _ int, _ *int16) bool { return false }

func reorderKernel(_, _ *block, _ *uint8, _, _, _ int) {}

func unstuffKernel(_, _ []byte) (read, written int) { return 0, 0 }

func inverseStretch4(_ *byte, _ int, _ *int16, _, _, _ int, _ *int16, _ int) (left int) { return 0 }

// fours reports whether inverseStretch4 may run.
func fours() bool { return false }
