//go:build (!amd64 && !arm64) || purego

package sound

func (s *stage) kernel([]Complex) bool { return false }

func splitKernel([]Vec, []Complex, []int32, []complex128, int) bool { return false }

func windowKernel([]Vec, []float32, []float32, []float32, []float32, []float64) int { return 0 }

func sumKernel([]Vec, []Vec, []span, []float64) bool { return false }

func logKernel([][Lanes]float32, []Vec, float64, float64, float64) bool { return false }

func greatestKernel([]float32) (greatest float32, done int) { return 0, 0 }

func levelKernel([]float32, float32, float32, float32) int { return 0 }

func productKernel(weights, samples []float32) (sum float64, done int) { return 0, 0 }
