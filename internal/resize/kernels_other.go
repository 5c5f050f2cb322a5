//go:build (!amd64 && !arm64) || purego

package resize

type taps struct{}

func (*taps) pack(*Weights) {}

func horizontalKernel(_ []byte, _ int, _ []byte, _, _ int, _ *Weights) (rows int) { return 0 }

func verticalKernel(_, _ []byte, _ int, _ *Weights, _ int) bool { return false }

func storePlaneKernel(_ []float32, _ []byte, _ *Norm, _ int) (samples int) { return 0 }

func storeKernel(_, _, _ []float32, _ []byte, _ *Norm) (pixels int) { return 0 }
