//go:build (!amd64 && !arm64) || purego

package jpeg

func inverseKernel(_ []byte, _ int, _ []block, _ []uint8, _ *block) bool { return false }

func colorKernel(_, _, _, _ []byte) bool { return false }

func upsampleH2Kernel(_, _ []byte) bool { return false }

func upsampleH2V2Kernel(_, _, _ []byte) bool { return false }
