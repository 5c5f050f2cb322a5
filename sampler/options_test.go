package sampler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestZeroOptionsDoNothing(t *testing.T) {
	three := sampler.Sequential(3)
	if got := fmt.Sprint(batches(sampler.Fixed(three, sampler.BatchOption{}, sampler.BatchSize(2)).Epoch(0))); got != "[[0 1] [2]]" {
		t.Errorf("batches are %s", got)
	}
	with, without := sampler.Random(9, 1, sampler.DrawOption{}), sampler.Random(9, 1)
	if got, want := indices(with.Epoch(0)), indices(without.Epoch(0)); !slices.Equal(got, want) {
		t.Errorf("draws are %v, want %v", got, want)
	}
	with, without = sampler.Grouped([]int{3, 9}, 1, sampler.GroupOption{}), sampler.Grouped([]int{3, 9}, 1)
	if got, want := indices(with.Epoch(0)), indices(without.Epoch(0)); !slices.Equal(got, want) {
		t.Errorf("groups are %v, want %v", got, want)
	}
}

func TestDefaultsOfOptions(t *testing.T) {
	weights := []float64{1, 0, 3}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"draws of Random", sampler.Random(9, 1).Epoch(0).Len(), 9},
		{"draws of Weighted", must(sampler.Weighted(weights, 1)).Epoch(0).Len(), 3},
		{"draws of WeightedWithoutReplacement", must(sampler.WeightedWithoutReplacement(weights, 1)).Epoch(0).Len(), 2},
		{"batches of Fixed", sampler.Fixed(sampler.Sequential(5)).Epoch(0).Len(), 5},
		{"batches of ByLength", sampler.ByLength([]int{4, 2, 3}, 1).Epoch(0).Len(), 3},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
