package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// DrawPart draws the size of a part: its area uniformly in scale, and the
// logarithm of its ratio uniformly between the logarithms of ratio.
func DrawPart(w, h int, scale, ratio Span, r *rand.Rand) (pw, ph int) {
	area := float64(w) * float64(h) * scale.Draw(r)
	aspect := math.Exp(Span{math.Log(ratio.Least), math.Log(ratio.Greatest)}.Draw(r))
	return Round(math.Sqrt(area * aspect)), Round(math.Sqrt(area / aspect))
}

// Round rounds as Python does: halves go to the even neighbour. Numbers that are too large for a side give -1.
func Round(v float64) int {
	if !(v < math.MaxInt32) {
		return -1
	}
	return int(math.RoundToEven(v))
}

// A Span is a range of numbers.
type Span struct{ Least, Greatest float64 }

func (s Span) Draw(r *rand.Rand) float64 {
	return s.Least + r.Float64()*(s.Greatest-s.Least)
}

func (s Span) Check(name string) error {
	if !(s.Least > 0 && s.Least <= s.Greatest && s.Greatest < math.Inf(1)) {
		return fmt.Errorf("want a %s above 0, with the least number first", name)
	}
	return nil
}

// Beta draws from the distribution Beta(alpha, alpha), as x/(x+y) with x and y from
// Gamma(alpha). Logarithms keep small alphas exact, whose x and y may both be 0.
func Beta(alpha float64, r *rand.Rand) float64 {
	return 1 / (1 + math.Exp(LogGamma(alpha, r)-LogGamma(alpha, r)))
}

// LogGamma draws the logarithm of a number from the distribution Gamma(alpha, 1).
//
// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
func LogGamma(alpha float64, r *rand.Rand) float64 {
	if alpha < 1 {
		return LogGamma(alpha+1, r) + math.Log(1-r.Float64())/alpha
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

// CheckAngles reports angles that are not finite or not in order.
func (s Span) CheckAngles(name string) error {
	if !(s.Least >= -maxAngle && s.Least <= s.Greatest && s.Greatest <= maxAngle) {
		return errors.New("want finite " + name + ", with the least number first")
	}
	return nil
}

// maxAngle is the limit of angles in steps. Larger ones are not exact.
const maxAngle = 1e6
