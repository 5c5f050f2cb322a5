package sampler_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/sampler"
)

// indices are all samples of an order.
func indices(o sampler.Order) []int {
	list := make([]int, o.Len())
	for k := range list {
		list[k] = o.At(k)
	}
	return list
}

// isPermutation reports whether list holds 0 to len(list)-1.
func isPermutation(list []int) bool {
	seen := make([]bool, len(list))
	for _, i := range list {
		if i < 0 || i >= len(seen) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

func TestShuffleIsAPermutation(t *testing.T) {
	sizes := []int{65535, 65536, 65537, 99_991, 1 << 20}
	for n := range 700 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for epoch := range 3 {
			if got := indices(sampler.Shuffle(n, 5).Epoch(epoch)); !isPermutation(got) {
				t.Fatalf("n %d, epoch %d: not a permutation", n, epoch)
			}
		}
	}
}

func TestShuffleStaysInRangeUpToTheLargestSize(t *testing.T) {
	for _, large := range []int64{1<<31 - 1, 1 << 40, 1<<62 - 1, 1 << 62} {
		n := int(large)
		if int64(n) != large {
			continue // an int has 32 bits
		}
		order := sampler.Shuffle(n, 1).Epoch(0)
		seen := map[int]bool{}
		high := 0
		for k := range 10_000 {
			for _, k := range []int{k, n - 1 - k} {
				i := order.At(k)
				if i < 0 || i >= n || seen[i] {
					t.Fatalf("n %d: At(%d) is %d", n, k, i)
				}
				seen[i] = true
				if i >= n/2 {
					high++
				}
			}
		}
		checkNear(t, fmt.Sprintf("n %d: share in the upper half", n), float64(high)/20_000, .5, .5/math.Sqrt(20_000))
	}
}

func TestShuffleMakesSmallPermutationsEquallyLikely(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		var all []string // in the order of their first appearance
		counts := make([]int, 24)
		total := 0
		for seed := range uint64(6000) {
			for epoch := range 4 { // seeds and epochs count alike
				p := fmt.Sprint(indices(sampler.Shuffle(n, seed).Epoch(epoch)))
				i := slices.Index(all, p)
				if i < 0 {
					i = len(all)
					all = append(all, p)
				}
				counts[i]++
				total++
			}
		}
		factorial := []int{2: 2, 3: 6, 4: 24}[n]
		if len(all) != factorial {
			t.Fatalf("n %d: %d permutations, want %d", n, len(all), factorial)
		}
		checkChi(t, fmt.Sprintf("n %d", n), counts[:factorial], equally(total, factorial))
	}
}

func TestShufflePutsEverySampleEverywhere(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, n := range []int{2, 3, 5, 10, 100, 256, 257, 289, 300} {
		seeds := 40 * n
		counts := make([]int, n*n)
		for seed := range uint64(seeds) {
			order := sampler.Shuffle(n, seed).Epoch(0)
			for k := range n {
				counts[k*n+order.At(k)]++
			}
		}
		checkChi(t, fmt.Sprintf("n %d", n), counts, equally(seeds, n))
	}
}

// Pairs of neighbours show what single places cannot. The longest order is a Feistel
// network: with four rounds instead of ten, this fails.
func TestShuffleSeparatesNeighbours(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, n := range []int{257, 289, 400, 1000, 1 << 12, 1<<12 + 1} {
		seeds := 4_000_000 / n
		steps := make([]int, n) // around the circle: all but 0 are equally likely
		for seed := range uint64(seeds) {
			order := sampler.Shuffle(n, seed).Epoch(1)
			previous := order.At(n - 1)
			for k := range n {
				i := order.At(k)
				steps[(i-previous+n)%n]++
				previous = i
			}
		}
		if steps[0] > 0 {
			t.Fatalf("n %d: a sample follows itself", n)
		}
		checkChi(t, fmt.Sprintf("n %d", n), steps[1:], equally(seeds*n, n-1))
	}
}

func TestShuffleLooksRandom(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, n := range []int{10, 200, 257, 1000, 10_000} {
		seeds := max(200, 200_000/n)
		fixed, common, displaced, descents := 0, 0, int64(0), 0
		for seed := range uint64(seeds) {
			s := sampler.Shuffle(n, seed)
			now, next := s.Epoch(0), s.Epoch(1)
			for k := range n {
				i := now.At(k)
				displaced += int64(max(i-k, k-i))
				if i == k {
					fixed++
				}
				if i == next.At(k) {
					common++
				}
				if k > 0 && i < now.At(k-1) {
					descents++
				}
			}
		}
		m, size := float64(seeds), float64(n)
		what := func(s string) string { return fmt.Sprintf("n %d: %s", n, s) }
		checkNear(t, what("fixed points"), float64(fixed)/m, 1, 1/math.Sqrt(m))
		checkNear(t, what("places that two epochs have in common"), float64(common)/m, 1, 1/math.Sqrt(m))
		// Mean and variance of Spearman's footrule: (n²-1)/3 and (n+1)(2n²+7)/45.
		checkNear(t, what("displacement"), float64(displaced)/m, (size*size-1)/3, math.Sqrt((size+1)*(2*size*size+7)/45/m))
		// Of descents: (n-1)/2 and (n+1)/12.
		checkNear(t, what("descents"), float64(descents)/m, (size-1)/2, math.Sqrt((size+1)/12/m))
	}
}

func TestShuffleEpochTakesNoMemoryThatGrows(t *testing.T) {
	var order sampler.Order
	bytes := testing.Benchmark(func(b *testing.B) {
		s := sampler.Shuffle(100_000_000, 1)
		for b.Loop() {
			order = s.Epoch(b.N)
		}
	}).AllocedBytesPerOp()
	if bytes > 512 {
		t.Errorf("an order of 1e8 samples takes %d bytes", bytes)
	}
	k := 0
	if n := allocs.PerRun(0, 1000, func() { k += order.At(k)%1000 + 1 }); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
}

func BenchmarkShuffleAt(b *testing.B) {
	for _, n := range []int{200, 50_000, 100_000_000, math.MaxInt32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			order := sampler.Shuffle(n, 1).Epoch(0)
			b.ReportAllocs()
			k, sum := 0, 0
			for b.Loop() {
				sum += order.At(k)
				if k++; k == n {
					k = 0
				}
			}
			_ = sum
		})
	}
}
