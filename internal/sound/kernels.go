//go:build (amd64 || arm64) && !purego

package sound

import (
	"math"
	"unsafe"

	"github.com/penstock-go/penstock/internal/cpu"
)

// kernel runs the stage if there is a kernel for its radix.
func (s *stage) kernel(z []Complex) bool {
	if !cpu.Kernels() {
		return false
	}
	_, _ = z[s.radix*s.m*s.blocks-1], s.twiddles[(s.radix-1)*s.m-1]
	last := s.m == 1 // without twiddles
	switch {
	case s.radix == 2 && last:
		last2(&z[0].Re[0], s.blocks)
	case s.radix == 2:
		pass2(&z[0].Re[0], parts(s.twiddles), s.m, s.blocks)
	case s.radix == 4 && last:
		last4(&z[0].Re[0], s.blocks)
	case s.radix == 4:
		pass4(&z[0].Re[0], parts(s.twiddles), s.m, s.blocks)
	case s.radix == 5 && last:
		last5(&z[0].Re[0], s.blocks)
	case s.radix == 5:
		pass5(&z[0].Re[0], parts(s.twiddles), s.m, s.blocks)
	default:
		return false
	}
	return true
}

// parts are the real and imaginary parts of numbers, one after the other.
func parts(c []complex128) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(c))) }

// splitKernel does what split does from k = 1 on.
func splitKernel(power []Vec, z []Complex, places []int32, twist []complex128, m int) bool {
	if !cpu.Kernels() || m < 2 {
		return false
	}
	_, _, _, _ = power[m], z[m-1], places[m-1], twist[m/2]
	splitPower(&power[0][0], &z[0].Re[0], &places[0], parts(twist), m, m/2)
	return true
}

// windowKernel multiplies as many samples as it can, from the first on.
func windowKernel(dst []Vec, a, b, c, d []float32, window []float64) (done int) {
	n := len(window) / 4
	if !cpu.Kernels() || n == 0 {
		return 0
	}
	windows4(&dst[0][0], &a[0], &b[0], &c[0], &d[0], &window[0], n)
	return 4 * n
}

// sumKernel sums up all filters. The spans must be within power.
func sumKernel(dst, power []Vec, spans []span, weights []float64) bool {
	if !cpu.Kernels() || len(dst) == 0 || len(weights) == 0 {
		return false
	}
	sums(&dst[0][0], &power[0][0], &spans[0].first, &weights[0], len(dst))
	return true
}

// logKernel reports whether all numbers are usual: positive, finite and not too small.
func logKernel(dst [][Lanes]float32, src []Vec, floor, offset, factor float64) bool {
	if !cpu.Kernels() || len(src) == 0 {
		return false
	}
	return logs(&dst[0][0], &src[0][0], len(src), floor, offset, factor)
}

// greatestKernel is the greatest of as many numbers as it can take, from the first on.
func greatestKernel(x []float32) (greatest float32, done int) {
	n := len(x) / 8
	if !cpu.Kernels() || n == 0 {
		return 0, 0
	}
	greatest, numbers := greatest8(&x[0], n)
	if !numbers {
		greatest = float32(math.NaN())
	}
	return greatest, 8 * n
}

// levelKernel does as many numbers as it can, from the first on. What max gives for numbers that are none, and for zeros of either sign,
// is left to Go.
func levelKernel(x []float32, least, mean, std float32) (done int) {
	n := len(x) / 8
	if !cpu.Kernels() || n == 0 || least != least || least == 0 {
		return 0
	}
	level8(&x[0], n, least, mean, std)
	return 8 * n
}

// productKernel sums up as many products as it can, from the first on.
func productKernel(weights, samples []float32) (sum float64, done int) {
	n := len(weights) / 4
	if !cpu.Kernels() || n == 0 {
		return 0, 0
	}
	return product4(&weights[0], &samples[0], n), 4 * n
}
