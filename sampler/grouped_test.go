package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// groupings say where groups end. Groups have equal or random sizes, some are empty,
// and in some cases there are few groups.
func groupings() map[string][]int {
	random := make([]int, 200)
	equal := make([]int, 96)
	end := 0
	for i := range random {
		end += sampler.Random(40, 7).Epoch(i).At(0)
		random[i] = end
	}
	for i := range equal {
		equal[i] = 25 * (i + 1)
	}
	return map[string][]int{
		"none": nil, "one": {5}, "empty": {0, 0}, "six": {3, 3, 10, 14, 20, 21},
		"random": random, "equal": equal, "singles": {1, 2, 3, 4, 5, 6, 7, 8},
	}
}

// groupOf finds a sample's group.
func groupOf(ends []int, i int) int {
	return slices.IndexFunc(ends, func(end int) bool { return i < end })
}

func TestGroupedIsAPermutation(t *testing.T) {
	for name, ends := range groupings() {
		for _, together := range []int{1, 2, 7, math.MaxInt/2 + 1} {
			for _, lanes := range []int{1, 2, 8, 1000, math.MaxInt/4 + 1} {
				s := sampler.Grouped(ends, 5, sampler.Together(together), sampler.Lanes(lanes))
				for epoch := range 3 {
					order := indices(s.Epoch(epoch))
					if n := len(ends); n > 0 && len(order) != ends[n-1] || !isPermutation(order) {
						t.Fatalf("%s, %d together in %d lanes: %v", name, together, lanes, order)
					}
				}
			}
		}
	}
}

func TestLanesGoThroughFewGroupsAtATime(t *testing.T) {
	for name, ends := range groupings() {
		for _, together := range []int{1, 2, 7, 100} {
			for _, lanes := range []int{1, 2, 8} {
				s := sampler.Grouped(ends, 5, sampler.Together(together), sampler.Lanes(lanes))
				for epoch := range 5 {
					order := indices(s.Epoch(epoch))
					for lane := range min(lanes, len(order)) {
						left := map[int]int{} // samples of the lane by group
						for k := lane; k < len(order); k += lanes {
							left[groupOf(ends, order[k])]++
						}
						open := map[int]bool{}
						for k := lane; k < len(order); k += lanes {
							group := groupOf(ends, order[k])
							open[group] = true
							if len(open) > together {
								t.Fatalf("%s, %d together, epoch %d: %d groups are open in lane %d of %d", name, together, epoch, len(open), lane, lanes)
							}
							if left[group]--; left[group] == 0 {
								delete(open, group)
							}
						}
					}
				}
			}
		}
	}
}

func TestRanksReadGroupsOfTheirOwn(t *testing.T) {
	const lanes = 8
	for _, name := range []string{"random", "equal"} {
		ends := groupings()[name]
		s := sampler.Grouped(ends, 5, sampler.Together(4), sampler.Lanes(lanes))
		want := indices(s.Epoch(1))
		slices.Sort(want)
		for _, world := range []int{1, 2, 3, 4, 5, 8} {
			read := 0
			var got []int
			for rank := range world {
				groups := map[int]bool{}
				for _, i := range indices(must(sampler.Shard(s, rank, world, sampler.KeepExact)).Epoch(1)) {
					groups[groupOf(ends, i)] = true
					got = append(got, i)
				}
				read += len(groups)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s: %d ranks do not read every sample once", name, world)
			}
			if lanes%world == 0 && read > len(ends)+lanes-1 {
				t.Errorf("%s: %d ranks read %d groups, want %d and at most %d that are cut", name, world, read, len(ends), lanes-1)
			}
		}
	}
}

func TestGroupedMixesAsAShuffleDoes(t *testing.T) {
	ends := []int{1, 4, 6, 10, 15, 30}
	const n, epochs = 30, 3000
	s := sampler.Grouped(ends, 5, sampler.Together(6))
	places, steps := make([]int, n*n), make([]int, n)
	for epoch := range epochs {
		order := indices(s.Epoch(epoch))
		for k, i := range order {
			places[k*n+i]++
			steps[(i-order[(k+1)%n]+n)%n]++
		}
	}
	checkChi(t, "places", places, equally(n*epochs, n*n))
	checkChi(t, "differences of neighbours", steps[1:], equally(n*epochs, n-1))
}

func TestEverySampleComesInEveryLane(t *testing.T) {
	ends := make([]int, 200)
	for g := range ends {
		ends[g] = 3*g + 1 + g%3
	}
	const lanes, parts, epochs = 3, 5, 1000
	n := ends[len(ends)-1]
	s := sampler.Grouped(ends, 5, sampler.Together(4), sampler.Lanes(lanes))
	places := make([]int, n*lanes*parts)
	for epoch := range epochs {
		for k, i := range indices(s.Epoch(epoch)) {
			places[(i*lanes+k%lanes)*parts+k*parts/n]++
		}
	}
	checkChi(t, "places", places, equally(n*epochs, len(places)))
}

func TestGroupedRefusesWrongUse(t *testing.T) {
	for _, wrong := range []func(){
		func() { sampler.Grouped([]int{3, 2}, 0) },
		func() { sampler.Grouped([]int{-1}, 0) },
	} {
		if !panics(wrong) {
			t.Error("want a panic")
		}
	}
}

func BenchmarkGrouped(b *testing.B) {
	ends := make([]int, 18_000) // as many blocks of 8 MiB are 150 GB
	for i := range ends {
		ends[i] = 75 * (i + 1)
	}
	s := sampler.Grouped(ends, 1, sampler.Together(64), sampler.Lanes(8))
	b.Run("At", func(b *testing.B) {
		o := s.Epoch(0)
		k := 0
		b.ReportAllocs()
		for b.Loop() {
			o.At(k)
			if k++; k == o.Len() {
				k = 0
			}
		}
	})
	b.Run("Epoch", func(b *testing.B) {
		epoch := 0
		b.ReportAllocs()
		for b.Loop() {
			s.Epoch(epoch)
			epoch++
		}
	})
}
