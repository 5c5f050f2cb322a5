//go:build !amd64 || purego

package jpeg

// Without pairsKernel none of these is called.

func naturalKernel(_, _ *block, _ int) {}

func refinePlaces(_ *uint64, _ *byte, _ int, _, _ *uint64, _ int) bool { return false }

func refineKernel(_ *block, _ *uint64, _, _ int) {}

func reverseBits(_, _ *byte, _ int) {}

func decodeFirst(_ *uint64, _ *byte, _ int, _ *uint64, _, _ *int16, _, _, _ int) bool { return false }

func nonzeroKernel(_ []uint64, _ []block) {}
