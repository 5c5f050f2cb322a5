package sampler_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestWeightedRandomSampler(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	t.Run("validation", func(t *testing.T) {
		for _, c := range []struct {
			weights       []float64
			draws         int
			with, without string // the error with and without replacement
		}{
			{[]float64{1, -1}, 1, "weight 1 is -1: want a finite number, 0 or more", "same"},
			{[]float64{nan}, 1, "weight 0 is NaN: want a finite number, 0 or more", "same"},
			{[]float64{1, 2, inf}, 1, "weight 2 is +Inf: want a finite number, 0 or more", "same"},
			{[]float64{0, 0}, 1, "none of 2 weights is positive", "same"},
			{nil, 0, "none of 0 weights is positive", "same"},
			{[]float64{1, 0, 1}, 3, "", "3 draws from 2 samples of positive weight"},
			{[]float64{1, 0, 1}, 2, "", ""},
			{[]float64{math.MaxFloat64, math.MaxFloat64}, 1, "", ""},
		} {
			check := func(name string, err error, want string) {
				if want != "" {
					want = "sampler: " + name + ": " + want
				}
				if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
					t.Errorf("%v: got error %q, want %q", c.weights, got, want)
				}
			}
			if c.without == "same" {
				c.without = c.with
			}
			_, err := sampler.Weighted(c.weights, 0, sampler.Draws(c.draws))
			check("Weighted", err, c.with)
			_, err = sampler.WeightedWithoutReplacement(c.weights, 0, sampler.Draws(c.draws))
			check("WeightedWithoutReplacement", err, c.without)
		}
	})

	large := make([]float64, 1000)
	for i := range large {
		large[i] = float64(i % 10)
	}
	for _, c := range []struct {
		name    string
		weights []float64
	}{
		{"one", []float64{3}},
		{"equal", []float64{2, 2, 2}},
		{"unequal", []float64{.1, .9, .4, .7, 3, .6}},
		{"with zeros", []float64{0, 5, 0, 0, 1, 0}},
		{"tiny and huge", []float64{1e-300, 1e300, 1e300, 0, 1e299}},
		{"largest floats", []float64{math.MaxFloat64, math.MaxFloat64 / 2, math.MaxFloat64}},
		{"smallest floats", []float64{math.SmallestNonzeroFloat64, 3 * math.SmallestNonzeroFloat64}},
		{"many", large},
	} {
		t.Run("with replacement/"+c.name, func(t *testing.T) {
			const draws = 300_000
			order := must(sampler.Weighted(c.weights, 4, sampler.Draws(draws))).Epoch(2)
			counts := make([]int, len(c.weights))
			for k := range draws {
				counts[order.At(k)]++
			}
			sum := 0.0
			for _, w := range c.weights {
				sum += w / c.weights[len(c.weights)-1]
			}
			checkChi(t, "draws", counts, func(i int) float64 {
				return draws * (c.weights[i] / c.weights[len(c.weights)-1]) / sum
			})
		})
	}

	t.Run("without replacement", func(t *testing.T) {
		weights := []float64{1, 0, 2, 4, 3}
		const epochs = 60_000
		s := must(sampler.WeightedWithoutReplacement(weights, 8, sampler.Draws(3)))
		counts := make([]int, 125)
		for epoch := range epochs {
			o := s.Epoch(epoch)
			if o.Len() != 3 {
				t.Fatalf("%d draws, want 3", o.Len())
			}
			counts[o.At(0)*25+o.At(1)*5+o.At(2)]++
		}
		checkChi(t, "sequences of three", counts, func(i int) float64 {
			a, b, c := i/25, i/5%5, i%5
			if a == b || b == c || a == c {
				return 0
			}
			return epochs * weights[a] / 10 * weights[b] / (10 - weights[a]) * weights[c] / (10 - weights[a] - weights[b])
		})
	})

	t.Run("without replacement/all, tiny ones last", func(t *testing.T) {
		s := must(sampler.WeightedWithoutReplacement([]float64{1e-300, 1, math.SmallestNonzeroFloat64, 1e300}, 1, sampler.Draws(4)))
		for epoch := range 100 {
			if got := fmt.Sprint(indices(s.Epoch(epoch))); got != "[3 1 0 2]" {
				t.Fatalf("epoch %d: got %s", epoch, got)
			}
		}
	})
}

// PyTorch allows 2²⁴ categories, and loses small weights among many before that.
// Here half of all draws go to weights of 1/2²⁵ each.
func TestWeightsBeyondTheCapOfPyTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 700 MB")
	}
	const n, draws = 1<<24 + 5, 400_000
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1e-9
	}
	weights[n-1] = 1e-9 * (n - 1) // together as much as the others
	weights[7] = 0
	order := must(sampler.Weighted(weights, 1, sampler.Draws(draws))).Epoch(0)
	heavy := 0
	eighths := make([]int, 8)
	for k := range draws {
		switch i := order.At(k); i {
		case n - 1:
			heavy++
		case 7:
			t.Fatal("drew a sample of weight 0")
		default:
			eighths[i*8/n]++
		}
	}
	checkNear(t, "the heavy one", float64(heavy)/draws, .5, .5/math.Sqrt(draws))
	checkChi(t, "the others", eighths, equally(draws-heavy, 8))
}

// A tiny weight is not rounded up to a probability that can be noticed.
func TestTinyWeightsNextToLargeOnesStayTiny(t *testing.T) {
	const n, draws = 1 << 16, 2_000_000
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1e-18
	}
	weights[3] = .7
	weights[n/2] = .1
	order := must(sampler.Weighted(weights, 1, sampler.Draws(draws))).Epoch(0)
	for k := range draws {
		if i := order.At(k); i != 3 && i != n/2 {
			t.Fatalf("draw %d is %d, whose probability is 1e-18", k, i)
		}
	}
}

func BenchmarkWeightedAt(b *testing.B) {
	weights := make([]float64, 1_000_000)
	for i := range weights {
		weights[i] = float64(i)
	}
	const draws = 1 << 30
	order := must(sampler.Weighted(weights, 1, sampler.Draws(draws))).Epoch(0)
	k := 0
	for b.Loop() {
		order.At(k & (draws - 1))
		k++
	}
}

func TestBalancedGivesClassesEqualShares(t *testing.T) {
	labels := make([]int, 1000)
	for i := range labels {
		labels[i] = min(i%10, 2) // 1, 1 and 8 in ten
	}
	weights := make([]float64, len(labels))
	for i, label := range labels {
		weights[i] = []float64{1. / 100, 1. / 100, 1. / 800}[label]
	}
	balanced, weighted := must(sampler.Balanced(labels, 5, sampler.Draws(9000))), must(sampler.Weighted(weights, 5, sampler.Draws(9000)))
	drawn := indices(balanced.Epoch(3))
	if !slices.Equal(drawn, indices(weighted.Epoch(3))) {
		t.Error("differs from Weighted with a weight of 1/n for each sample of a class of n")
	}
	var shares [3]int
	for _, i := range drawn {
		shares[labels[i]]++
	}
	for label, n := range shares {
		if n < 2800 || n > 3200 { // 3000 and more than four standard deviations
			t.Errorf("class %d has %d of 9000 draws, want about 3000", label, n)
		}
	}
	if got := must(sampler.Balanced([]string{"a", "b", "b"}, 1)).Epoch(0).Len(); got != 3 {
		t.Errorf("%d draws, want 3", got)
	}
	for want, labels := range map[string][]float64{
		"sampler: Balanced: no labels":                                         nil,
		"sampler: Balanced: weight 1 is +Inf: want a finite number, 0 or more": {1, math.NaN()},
	} {
		if _, err := sampler.Balanced(labels, 1); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
