package sampler_test

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// TestIdentitiesStayTheSame pins the identities, because saved positions contain
// them. If an identity changes, its saved positions no longer load. An algorithm
// that changes must get another name, and one that does not must keep its
// identity.
func TestIdentitiesStayTheSame(t *testing.T) {
	shuffle := sampler.Shuffle(10, 3)
	weights := []float64{0.5, 0, 2, 1}
	lengths := []int{5, 3, 9, 1, 1}
	for want, s := range map[string]any{
		"Sequential(10 samples)":                                                                      sampler.Sequential(10),
		"Shuffle(10 samples, seed 3)":                                                                 shuffle,
		"Random(10 samples, draws 10, seed 3)":                                                        sampler.Random(10, 3),
		"Torch(10 samples, seed 3)":                                                                   sampler.Torch(10, 3),
		"TorchManualSeed(10 samples, seed 3)":                                                         sampler.TorchManualSeed(10, 3),
		"Weighted(4 weights 66896942f9c021be, draws 7, seed 3)":                                       must(sampler.Weighted(weights, 3, sampler.Draws(7))),
		"WeightedDistinct(4 weights b61359d77b7429cb, draws 2, seed 3)":                               must(sampler.WeightedWithoutReplacement(weights, 3, sampler.Draws(2))),
		"Grouped(2 groups 605ee390932f106f, together 1, seed 3)":                                      sampler.Grouped([]int{4, 10}, 3),
		"Grouped(2 groups 605ee390932f106f, together 2, lanes 3, seed 3)":                             sampler.Grouped([]int{4, 10}, 3, sampler.Together(2), sampler.Lanes(3)),
		"ByLength(5 samples by length fbdb31504098c018, batches of 2, seed 3)":                        sampler.ByLength(lengths, 3, sampler.BatchSize(2)),
		"ByLength(5 samples by length fbdb31504098c018, batches of 2, the short one dropped, seed 3)": sampler.ByLength(lengths, 3, sampler.BatchSize(2), sampler.DropLast(true)),
		"ByTokens(5 lengths 8b9d9f7f04c54ac5, limit 10, seed 3)":                                      must(sampler.ByTokens(lengths, 10, 3)),
		"ByTokens(5 lengths 8b9d9f7f04c54ac5, limit 10, padded, seed 3)":                              must(sampler.ByTokens(lengths, 10, 3, sampler.Padded())),
		"Mix(2 sources 72841eb7f986eeb2, 2 stages 7e022bb69400507d, draws 12)":                        must(sampler.Mix(sequences(9, 3), sampler.Stage{Proportions: []int{3, 1}, Draws: 8}, sampler.Stage{Weights: []float64{3, 1}, Draws: 4})),
		"List(2 batches be3cb7e04dcce365)":                                                            sampler.List{{1, 2}, {3}},
	} {
		if got := s.(sampler.Identified).Identity(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, s := range []any{
		must(sampler.Shard(shuffle, 1, 3, sampler.PadToEven)),
		sampler.Fixed(shuffle, sampler.BatchSize(4)),
		must(sampler.ShardBatches(sampler.Fixed(shuffle), 0, 2, sampler.KeepExact)),
	} {
		if got, want := s.(sampler.Identified).Identity(), "Shuffle(10 samples, seed 3)"; got != want {
			t.Errorf("%T: got %q, want that of the global order, %q", s, got, want)
		}
	}
}

// A mute sampler has no identity.
type mute struct{}

func (mute) Epoch(int) sampler.Order { return sampler.Sequential(4).Epoch(0) }

func TestSamplersOverOneWithoutIdentityHaveNone(t *testing.T) {
	for _, s := range []any{
		must(sampler.Shard(mute{}, 0, 2, sampler.KeepExact)),
		sampler.Fixed(mute{}),
		must(sampler.ShardBatches(sampler.Fixed(mute{}), 0, 2, sampler.KeepExact)),
	} {
		if got := s.(sampler.Identified).Identity(); got != "" {
			t.Errorf("%T: got %q, want none", s, got)
		}
	}
}

func TestDataEntersIdentitiesAsAHash(t *testing.T) {
	seen := map[string]bool{}
	for i := range 3 {
		weights := []float64{1, 2, 3}
		weights[i] += 1e-12
		indices, ends := []int{0, 1, 2}, []int{10, 20, 30}
		indices[i] += 5
		ends[i]++
		lengths := []int{1, 1, 1}
		lengths[i] = 0
		for _, s := range []any{
			must(sampler.Weighted(weights, 1)),
			must(sampler.WeightedWithoutReplacement(weights, 1)),
			sampler.Grouped(ends, 1),
			sampler.ByLength(lengths, 1),
			sampler.List{{1}, indices},
			sampler.List{indices, {1}},
		} {
			id := s.(sampler.Identified).Identity()
			if seen[id] {
				t.Errorf("%q comes from two sets of data", id)
			}
			seen[id] = true
		}
	}
	if a, b := (sampler.List{{1, 2}, {3}}).Identity(), (sampler.List{{1}, {2, 3}}).Identity(); a == b {
		t.Errorf("the cuts of %q are not in its identity", a)
	}
	large := make([]float64, 100_003)
	for i := range large {
		large[i] = 1 + float64(i%7)
	}
	id := fmt.Sprint(must(sampler.WeightedWithoutReplacement(large, 1)).(sampler.Identified).Identity())
	large[100_002]++
	if id == must(sampler.WeightedWithoutReplacement(large, 1)).(sampler.Identified).Identity() {
		t.Error("the last weight is not in the identity")
	}
}
