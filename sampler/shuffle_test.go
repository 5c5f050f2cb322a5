package sampler_test

import (
	"testing"

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

func BenchmarkShuffleAt(b *testing.B) {
	const n = 100_000_000
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
}
