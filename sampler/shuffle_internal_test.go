package sampler

import (
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/prng"
	"github.com/penstock-go/penstock/internal/testenv"
)

// kept counts the pairs of places in a row of 16 whose samples have the same
// difference as the places. By chance this happens about once in n-1 pairs.
// Differences are XORs or subtractions. A Feistel network whose halves are a
// row's number and the place in the row adds the same number to both of a pair in
// its first round. It keeps their difference if all rounds on the row's number
// give both the same number.
func kept(n, seeds int, xor bool, order func(seed uint64) Order) (excess, standardError float64) {
	const row = 16
	moved := func(k, i int) int {
		if xor {
			return k ^ i
		}
		return i - k + n
	}
	want := 0.0
	for k := range n {
		for l := k + 1; l < n && l/row == k/row; l++ {
			fits := n // of n(n-1) pairs of samples, those that differ as k and l do
			if !xor {
				fits -= l - k
			}
			want += float64(fits) / float64(n*(n-1)) * float64(seeds)
		}
	}
	same := 0
	count := make([]int, 2*n) // of the row's samples so far, by how they have moved
	for seed := range uint64(seeds) {
		o := order(seed)
		for begin := 0; begin < n; begin += row {
			var by [row]int
			end := min(begin+row, n)
			for k := begin; k < end; k++ {
				by[k-begin] = moved(k, o.At(k))
				same += count[by[k-begin]]
				count[by[k-begin]]++
			}
			for _, by := range by[:end-begin] {
				count[by] = 0
			}
		}
	}
	return float64(same)/want - 1, 1 / math.Sqrt(want)
}

func checkKept(t *testing.T, n, draws int, xor bool, order func(seed uint64) Order) {
	t.Helper()
	if testing.Short() {
		t.Skip("draws millions of samples")
	}
	excess, e := kept(n, draws/n, xor, order)
	t.Logf("n %d: %+.3f %% ± %.3f", n, 100*excess, 100*e)
	if math.Abs(excess) > 4*e {
		t.Errorf("n %d: %+.3f %% of the pairs keep their difference, that is %.1f standard errors", n, 100*excess, excess/e)
	}
}

func TestShuffleKeepsNoDifferences(t *testing.T) {
	checkKept(t, 272, 80_000_000, false, func(seed uint64) Order { return Shuffle(272, seed).Epoch(0) })
}

// With the fewest rounds the network keeps no difference even at a size that is
// smaller, and so worse, than all sizes that use them. Eight rounds would keep
// 0.4 % too many.
func TestNetworkKeepsNoDifferences(t *testing.T) {
	checkKept(t, 256, 80_000_000, true, func(seed uint64) Order {
		f := newFeistel(256, prng.Mix(seed))
		f.rounds = fewRounds
		return f
	})
}

func TestSmallNetworksKeepNoDifferences(t *testing.T) {
	for _, n := range []int{32, 64, 256} {
		checkKept(t, n, 2_000_000, true, func(seed uint64) Order {
			return newFeistel(n, prng.Mix(seed))
		})
	}
}

func TestPermutedPutsEveryNumberEverywhere(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, n := range []int{1, 2, 3, 16, 17, 20, 100, 257} {
		seeds := 40 * n
		chi, counts := 0.0, make([]int, n*n)
		for seed := range uint64(seeds) {
			seen := make([]bool, n)
			for k := range n {
				i := permuted(k, n, prng.Mix(seed))
				if seen[i] {
					t.Fatalf("n %d: %d comes twice", n, i)
				}
				seen[i] = true
				counts[k*n+i]++
			}
		}
		for _, c := range counts {
			chi += float64((c-40)*(c-40)) / 40
		}
		if df := float64((n - 1) * (n - 1)); chi > df+5*math.Sqrt(2*df) {
			t.Errorf("n %d: χ² is %.1f with %v degrees of freedom", n, chi, df)
		}
	}
}
