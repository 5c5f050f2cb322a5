package torchrand

import (
	"slices"
	"testing"
)

func TestPermIsTorchRandperm(t *testing.T) {
	for _, c := range []struct {
		n    int
		seed uint64
		want []int
	}{
		{0, 1, []int{}},
		{1, 1, []int{0}},
		{10, 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
		{10, 0, []int{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}}, // the ranks of the distributed sampler's golden, interleaved
		{10, 1<<32 + 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
	} {
		if got := Perm(c.n, c.seed); !slices.Equal(got, c.want) {
			t.Errorf("Perm(%d, %d) = %v, want %v", c.n, c.seed, got, c.want)
		}
	}
}

// The value is the one that the C++ standard demands of std::mt19937
// ([rand.predef]): the 10000th number of the default seed 5489.
func TestTwisterIsMT19937(t *testing.T) {
	g := newTwister(5489)
	for range 9999 {
		g.next()
	}
	if got := g.next(); got != 4123659995 {
		t.Errorf("10000th number is %d, want 4123659995", got)
	}
}

func TestPermIsAPermutation(t *testing.T) {
	got := Perm(100_000, 7)
	slices.Sort(got)
	for i, v := range got {
		if i != v {
			t.Fatalf("sorted, place %d holds %d", i, v)
		}
	}
}

func BenchmarkPerm(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		Perm(n, 1)
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "indices/s")
}
