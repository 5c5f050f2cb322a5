//go:build (!amd64 && !arm64) || purego

package resize

type taps struct{}

func (*taps) pack(*Weights) {}

func horizontalKernel(_ []byte, _ int, _ []byte, _, _ int, _ *Weights) (rows int) { return 0 }

func verticalKernel(_, _ []byte, _ int, _ *Weights, _ int) bool { return false }

func storeKernel(_, _, _ []float32, _ []byte, _ *params) (pixels int) { return 0 }

func storeFloat16Kernel(_, _, _ []uint16, _ []byte, _ *params) (pixels int) { return 0 }

func storeBFloat16Kernel(_, _, _ []uint16, _ []byte, _ *params) (pixels int) { return 0 }

func interleaveKernel(_, _ []byte, _ [3]int) (pixels int) { return 0 }

func separateKernel(_, _ []byte, _ int) (pixels int) { return 0 }

func storePlaneKernel(_ []float32, _ []byte, _ *params, _ int) (samples int) { return 0 }

func storePlaneFloat16Kernel(_ []uint16, _ []byte, _ *params, _ int) (samples int) { return 0 }

func storePlaneBFloat16Kernel(_ []uint16, _ []byte, _ *params, _ int) (samples int) { return 0 }
