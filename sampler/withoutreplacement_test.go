package sampler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// unequal are n weights over three orders of magnitude.
func unequal(n int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1 + float64(i*7919%1000)
	}
	return weights
}

// The first and second draws from many weights have the right probabilities. The
// first half of all draws is compared with a simulation that draws one sample
// after the other.
func TestWeightedWithoutReplacementOfManyWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("draws six million samples one after the other")
	}
	const n, epochs = 100, 60_000
	weights := unequal(n)
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	first, second := make([]int, n), make([]int, n)
	half := make([]int, n) // is among the first half
	s := must(sampler.WeightedWithoutReplacement(weights, 4))
	for epoch := range epochs {
		o := s.Epoch(epoch)
		first[o.At(0)]++
		second[o.At(1)]++
		for k := range n / 2 {
			half[o.At(k)]++
		}
	}
	checkChi(t, "first draws", first, func(i int) float64 { return epochs * weights[i] / sum })
	checkChi(t, "second draws", second, func(i int) float64 {
		p := 0.0
		for j, w := range weights {
			if j != i {
				p += w / sum * weights[i] / (sum - w)
			}
		}
		return epochs * p
	})
	// One after the other from what is left, by the definition.
	random := rand.New(rand.NewPCG(1, 2))
	want := make([]int, n)
	for range epochs {
		left, rest := slices.Clone(weights), sum
		for range n / 2 {
			u := random.Float64() * rest
			i := 0
			for ; i < n-1 && (u >= left[i] || left[i] == 0); i++ {
				u -= left[i]
			}
			want[i]++
			rest -= left[i]
			left[i] = 0
		}
	}
	for i := range n {
		p := float64(want[i]) / epochs
		checkNear(t, fmt.Sprintf("weight %v in the first half", weights[i]), float64(half[i])/epochs, p, math.Sqrt(2*p*(1-p)/epochs)+1e-9)
	}
}

func BenchmarkWeightedWithoutReplacement(b *testing.B) {
	for _, n := range []int{100_000, 10_000_000} {
		for _, draws := range []int{n / 10, n} {
			b.Run(fmt.Sprintf("%d of %d", draws, n), func(b *testing.B) {
				s := must(sampler.WeightedWithoutReplacement(unequal(n), 1, sampler.Draws(draws)))
				b.ReportAllocs()
				epoch := 0
				for b.Loop() {
					s.Epoch(epoch)
					epoch++
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e9, "ns/weight")
			})
		}
	}
}
