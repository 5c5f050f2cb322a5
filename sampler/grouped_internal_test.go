package sampler

import (
	"slices"
	"strconv"
	"testing"
)

// If their first pools did not differ in length, all lanes would need new groups
// at the same time.
func TestLanesChangePoolsAtDifferentPlaces(t *testing.T) {
	ends := make([]int, 960)
	for i := range ends {
		ends[i] = 10 * (i + 1)
	}
	for _, lanes := range []int{2, 8, 16} {
		o := Grouped(ends, 1, Together(32), Lanes(lanes)).(*grouped).order(0)
		seen := map[int]bool{}
		for lane := range lanes {
			start := o.laneStart(lane)
			first := slices.IndexFunc(o.poolEnds, func(end int) bool { return end > start })
			seen[o.poolEnds[first]-start] = true
		}
		if len(seen) != lanes {
			t.Errorf("first pools of %d lanes have %d lengths", lanes, len(seen))
		}
	}
}

// The memory of an order grows with the groups, not with the samples.
func TestGroupOrderKeepsGroupsOnly(t *testing.T) {
	ends := make([]int, 1000)
	for i := range ends {
		ends[i] = (i + 1) << (strconv.IntSize - 12)
	}
	for _, together := range []int{1, 10} {
		o := Grouped(ends, 1, Together(together), Lanes(8)).(*grouped).order(0)
		if words := len(o.groups) + len(o.ends) + len(o.poolEnds) + len(o.poolGroups); words > 4*(len(ends)+8) {
			t.Errorf("%d together: %d words for %d groups", together, words, len(ends))
		}
		seen := map[int]bool{}
		for k := range 1000 {
			i := o.At(o.Len()/1000*k + k)
			if i < 0 || i >= o.n || seen[i] {
				t.Fatalf("place %d is sample %d", k, i)
			}
			seen[i] = true
		}
	}
}
