package sampler_test

import (
	"math"
	"testing"
)

// checkChi fails if χ² is more than five standard deviations above its mean: then
// counts are further from the expected ones than chance explains. Seeds are
// fixed, so that a test passes always or never. Expected counts below 5 are
// pooled, because χ² does not hold there.
func checkChi(t *testing.T, what string, counts []int, expected func(i int) float64) {
	t.Helper()
	chi, cells := 0.0, 0
	add := func(got, want float64) {
		if want > 0 {
			chi += (got - want) * (got - want) / want
			cells++
		}
	}
	pooled, pooledWant := 0.0, 0.0
	for i, c := range counts {
		want := expected(i)
		switch {
		case want == 0 && c > 0:
			t.Errorf("%s: %d came %d times and never should", what, i, c)
		case want < 5:
			pooled += float64(c)
			pooledWant += want
		default:
			add(float64(c), want)
		}
	}
	add(pooled, pooledWant)
	if df := float64(cells - 1); chi > df+5*math.Sqrt(2*df) {
		t.Errorf("%s: χ² is %.1f with %v degrees of freedom", what, chi, df)
	}
}

func equally(total, cells int) func(int) float64 {
	return func(int) float64 { return float64(total) / float64(cells) }
}

// checkNear fails if a mean of many numbers is more than five standard errors
// away.
func checkNear(t *testing.T, what string, got, want, standardError float64) {
	t.Helper()
	if math.Abs(got-want) > 5*standardError {
		t.Errorf("%s: got %.4f, want %.4f ± %.4f", what, got, want, standardError)
	}
}
