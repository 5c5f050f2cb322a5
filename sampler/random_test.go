package sampler_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestRandomSampler(t *testing.T) {
	t.Run("with replacement", func(t *testing.T) {
		for _, n := range []int{1, 2, 7, 1000} {
			const draws = 200_000
			s := sampler.Random(n, 9, sampler.Draws(draws))
			counts, pairs, epochs := make([]int, n), make([]int, 49), make([]int, 49)
			order, next := s.Epoch(4), s.Epoch(5)
			for k := range draws {
				counts[order.At(k)]++
				if n == 7 {
					epochs[order.At(k)*n+next.At(k)]++
					if k%2 == 1 {
						pairs[order.At(k-1)*n+order.At(k)]++
					}
				}
			}
			checkChi(t, fmt.Sprintf("n %d", n), counts, equally(draws, n))
			if n == 7 {
				checkChi(t, "successive draws", pairs, equally(draws/2, 49))
				checkChi(t, "successive epochs", epochs, equally(draws, 49))
			}
		}
	})
	t.Run("huge n", func(t *testing.T) {
		// Without rejection, multiples of 3 would have 6/16 of the draws instead of 1/3.
		const n, draws = 3 << (strconv.IntSize - 4), 100_000
		order := sampler.Random(n, 9, sampler.Draws(draws)).Epoch(0)
		thirds := make([]int, 3)
		for k := range draws {
			thirds[order.At(k)%3]++
		}
		checkChi(t, "remainders of 3", thirds, equally(draws, 3))
	})
	t.Run("draws on their own repeat as often as chance has it", func(t *testing.T) {
		const n = 10_000
		seen := map[int]bool{}
		for _, i := range indices(sampler.Random(n, 2, sampler.Draws(n)).Epoch(0)) {
			seen[i] = true
		}
		checkNear(t, "samples drawn", float64(len(seen))/n, 1-1/math.E, math.Sqrt((1/math.E-2/math.E/math.E)/n))
	})
}
