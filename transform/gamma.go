package transform

import (
	"math"
	"math/rand/v2"
)

// beta draws from the distribution Beta(alpha, alpha), as x/(x+y) with x and y from
// Gamma(alpha). Logarithms keep small alphas exact, whose x and y may both be 0.
func beta(alpha float64, r *rand.Rand) float64 {
	return 1 / (1 + math.Exp(logGamma(alpha, r)-logGamma(alpha, r)))
}

// logGamma draws the logarithm of a number from the distribution Gamma(alpha, 1).
//
// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
func logGamma(alpha float64, r *rand.Rand) float64 {
	if alpha < 1 {
		return logGamma(alpha+1, r) + math.Log(1-r.Float64())/alpha
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}
