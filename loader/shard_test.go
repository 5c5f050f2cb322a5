package loader_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

const sharded = 97 // samples

func shardLoader(t *testing.T, rank, world, workers int, mode sampler.Mode) *loader.Loader {
	t.Helper()
	s, err := sampler.Shard(sampler.Shuffle(sharded, 6), rank, world, mode)
	if err != nil {
		t.Fatal(err)
	}
	return newLoader(t, augmented(sharded), loader.Workers(workers), loader.BatchSize(4), loader.Sampler(s), loader.Seed(2))
}

// samples is every sample of a batch as text, random numbers included.
func samples(b *loader.Batch) (all []string) {
	noise, words, ends := loader.Values[float32](b, "noise"), loader.Values[uint16](b, "words"), b.Offsets("words")
	for r, index := range b.Indices() {
		all = append(all, fmt.Sprint(index, noise[6*r:6*r+6], words[ends[r]:ends[r+1]]))
	}
	return all
}

func TestShardsHoldTheSamplesOfOneLoader(t *testing.T) {
	one := newLoader(t, augmented(sharded), loader.Workers(2), loader.BatchSize(10), loader.Sampler(sampler.Shuffle(sharded, 6)), loader.Seed(2))
	var want, got []string
	for b := range one.Epoch(t.Context(), 1) {
		want = append(want, samples(b)...)
	}
	for rank := range 4 {
		for b := range shardLoader(t, rank, 4, 2, sampler.KeepExact).Epoch(t.Context(), 1) {
			got = append(got, samples(b)...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != sharded || !slices.Equal(got, want) {
		t.Error("four ranks load other data than one")
	}
}

// TestElasticResume interrupts four ranks after every batch and goes on with
// three and with five: the rest of the epoch is the same, random numbers included.
func TestElasticResume(t *testing.T) {
	const before = 4
	perRank := make([][][]string, before) // samples by rank and batch
	var positions []loader.Position
	for rank := range before {
		for b, err := range shardLoader(t, rank, before, 2, sampler.KeepExact).Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			perRank[rank] = append(perRank[rank], samples(b))
			if rank == 0 {
				text, err := json.Marshal(b.Position())
				if err != nil {
					t.Fatal(err)
				}
				var p loader.Position
				if err := json.Unmarshal(text, &p); err != nil {
					t.Fatal(err)
				}
				positions = append(positions, p)
			}
		}
	}
	for k, p := range positions {
		var want []string
		for rank := range before {
			for _, batch := range perRank[rank][min(k+1, len(perRank[rank])):] {
				want = append(want, batch...)
			}
		}
		slices.Sort(want)
		for _, after := range []int{3, 4, 5} {
			var got []string
			for rank := range after {
				for b, err := range shardLoader(t, rank, after, 1, sampler.KeepExact).From(t.Context(), p) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, samples(b)...)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("behind batch %d, on %d ranks: %d samples that differ from the %d uninterrupted ones", k, after, len(got), len(want))
			}
		}
	}
}

func TestRanksOfBatchSamplersHaveTheirOwnRandomNumbers(t *testing.T) {
	draws, err := sampler.Repeat(sampler.Sequential(1), 16)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for rank := range 2 {
		s, err := sampler.ShardBatches(sampler.Fixed(draws, sampler.BatchSize(4)), rank, 2, sampler.KeepExact)
		if err != nil {
			t.Fatal(err)
		}
		l := newLoader(t, augmented(1), loader.Workers(2), loader.BatchSampler(s))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, sample := range samples(b) {
				seen[sample]++
			}
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d different samples of 16 draws of one", len(seen))
	}
}
