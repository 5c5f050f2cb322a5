package sampler_test

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestGroupedTakesFewGroupsAtATime(t *testing.T) {
	ends := []int{3, 3, 10, 14, 20, 21} // one group is empty
	groupOf := func(i int) int {
		return slices.IndexFunc(ends, func(end int) bool { return i < end })
	}
	for _, together := range []int{1, 2, 4, 100} {
		s := sampler.Grouped(ends, 5, sampler.Together(together))
		first := map[int]bool{}
		for epoch := range 50 {
			o := s.Epoch(epoch)
			if o.Len() != 21 {
				t.Fatalf("%d samples", o.Len())
			}
			seen := map[int]bool{}
			left := map[int]int{} // samples of open groups that are still to come
			for k := range o.Len() {
				i := o.At(k)
				if seen[i] {
					t.Fatalf("together %d: sample %d comes twice", together, i)
				}
				seen[i] = true
				group := groupOf(i)
				if _, open := left[group]; !open {
					left[group] = ends[group]
					if group > 0 {
						left[group] -= ends[group-1]
					}
				}
				if left[group]--; left[group] == 0 {
					delete(left, group)
				}
				if len(left) > together {
					t.Fatalf("together %d, epoch %d: %d groups are open at draw %d", together, epoch, len(left), k)
				}
			}
			first[o.At(0)] = true
		}
		if len(first) < 10 {
			t.Errorf("together %d: 50 epochs begin with %d samples", together, len(first))
		}
	}
}

func TestGroupedRefusesWrongUse(t *testing.T) {
	for _, wrong := range []func(){
		func() { sampler.Grouped([]int{3, 2}, 0, sampler.Together(1)) },
		func() { sampler.Grouped([]int{-1}, 0, sampler.Together(1)) },
		func() { sampler.Grouped([]int{3}, 0, sampler.Together(0)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("want a panic")
				}
			}()
			wrong()
		}()
	}
	if n := sampler.Grouped(nil, 0, sampler.Together(1)).Epoch(0).Len(); n != 0 {
		t.Errorf("no groups: %d samples", n)
	}
}
