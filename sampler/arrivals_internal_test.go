package sampler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/prng"
)

// The times have several distributions: uniform, over all exponents, few values,
// around one value with some far away, and with gaps.
func TestEarliestSorts(t *testing.T) {
	shapes := map[string]func(h uint64) uint64{
		"even":         func(h uint64) uint64 { return h >> 1 },
		"exponents":    func(h uint64) uint64 { return h >> (h & 63) },
		"few":          func(h uint64) uint64 { return h & 3 },
		"one":          func(uint64) uint64 { return 7 },
		"outliers":     func(h uint64) uint64 { return 1<<40 + h&255<<(h>>58) },
		"never":        func(h uint64) uint64 { return h | -(h & 1) },
		"high and low": func(h uint64) uint64 { return h & (1<<63 | 0xff) },
	}
	for name, shape := range shapes {
		for _, n := range []int{0, 1, 2, 16, 17, 100, 5000, 50_000} {
			times := make([]uint64, n)
			var want []int
			for i := range times {
				if times[i] = shape(prng.Mix(uint64(i))); times[i] != never {
					want = append(want, i)
				}
			}
			slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(times[a], times[b]), a-b) })
			for _, draws := range []int{0, 1, len(want) / 10, len(want)} {
				if draws > len(want) {
					continue
				}
				if got := earliest(times, draws); !slices.Equal(got, want[:draws]) {
					t.Errorf("%s: the first %d of %d are wrong", name, draws, n)
				}
			}
		}
	}
}

func TestExponentialVariates(t *testing.T) {
	const n, cells = 1_000_000, 1000
	counts := make([]int, cells) // in ranges of equal probability
	for i := range uint64(n) {
		e := exponential(prng.Mix(i))
		if !(e > 0) {
			t.Fatalf("variate %d is %v", i, e)
		}
		counts[min(cells-1, int(cells*-math.Expm1(-e)))]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (float64(c) - n/cells) * (float64(c) - n/cells) / (n / cells)
	}
	if df := float64(cells - 1); chi > df+5*math.Sqrt(2*df) {
		t.Errorf("χ² is %.1f with %v degrees of freedom", chi, df)
	}
}

// Arrival times compare as the quotients variate/weight do, also where a float64
// cannot hold these.
func TestArrivalTimesCompareAsQuotients(t *testing.T) {
	weights := []float64{1, 3, 1e300, math.MaxFloat64, 1e-300, 0x1p-1022, 0x1.8p-1023, math.SmallestNonzeroFloat64, 7 * math.SmallestNonzeroFloat64}
	log := func(h uint64, w float64) float64 { return math.Log2(exponential(h)) - math.Log2(w) } // Log is wrong for the smallest
	for h := range uint64(500) {
		for _, v := range weights {
			for _, w := range weights {
				a, b := prng.Mix(h), prng.Mix(h+1<<32)
				got := cmp.Compare(arrivalTime(a, v), arrivalTime(b, w))
				if want := cmp.Compare(log(a, v), log(b, w)); got != want && math.Abs(log(a, v)-log(b, w)) > 1e-10 {
					t.Fatalf("weights %v and %v: times compare as %d, want %d (%s)", v, w, got, want, fmt.Sprint(log(a, v), log(b, w)))
				}
			}
		}
	}
}
