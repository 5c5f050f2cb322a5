package loader_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
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
	return loadertest.New(t, augmented(sharded), loader.Workers(workers), loader.BatchSize(4), loader.Sampler(s), loader.Seed(2))
}

// samples is every sample of a batch as text, with its random number.
func samples(b *loader.Batch) (all []string) {
	noise, words, ends := loader.Values[float32](b, "noise"), loader.Values[uint16](b, "words"), b.Offsets("words")
	for r, index := range b.Indices() {
		all = append(all, fmt.Sprint(index, noise[6*r:6*r+6], words[ends[r]:ends[r+1]]))
	}
	return all
}

func TestShardsHoldTheSamplesOfOneLoader(t *testing.T) {
	one := loadertest.New(t, augmented(sharded), loader.Workers(2), loader.BatchSize(10), loader.Sampler(sampler.Shuffle(sharded, 6)), loader.Seed(2))
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

// TestElasticResume interrupts four ranks after every batch and resumes on three and
// on five. The rest of the epoch is the same, and so are the random numbers.
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
				for b, err := range shardLoader(t, rank, after, 1, sampler.KeepExact).From(t.Context(), p, 1) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, samples(b)...)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("after batch %d, on %d ranks: %d samples that differ from the %d uninterrupted ones", k, after, len(got), len(want))
			}
		}
	}
}

// Interrupted ranks of a batch sampler resume on another number of ranks. Batches
// that are cut from an order also resume in another size.
func TestElasticResumeOfBatches(t *testing.T) {
	list := make(sampler.List, 30)
	for k, i := 0, 0; k < len(list); k++ {
		for range 1 + k%3 {
			list[k] = append(list[k], i)
			i++
		}
	}
	cut := func(size int) sampler.BatchSampler {
		return sampler.Fixed(sampler.Shuffle(sharded, 6), sampler.BatchSize(size))
	}
	rank := func(s sampler.BatchSampler, rank, world int) *loader.Loader {
		share, err := sampler.ShardBatches(s, rank, world, sampler.KeepExact)
		if err != nil {
			t.Fatal(err)
		}
		return loadertest.New(t, augmented(sharded), loader.Workers(2), loader.BatchSampler(share), loader.Seed(2))
	}
	for _, c := range []struct {
		name          string
		before, after sampler.BatchSampler
		ranks         []int // before and after
	}{
		{"2 to 4", cut(4), cut(4), []int{2, 4}},
		{"4 to 2", cut(4), cut(4), []int{4, 2}},
		{"size 2 to 5", cut(2), cut(5), []int{1, 1}},
		{"3 ranks to 2, size 5 to 3", cut(5), cut(3), []int{3, 2}},
		{"a list, 2 to 3", list, list, []int{2, 3}},
		{"a list, 3 to 1", list, list, []int{3, 1}},
	} {
		all := map[string]int{}
		for b := range rank(c.before, 0, 1).Epoch(t.Context(), 0) {
			for _, sample := range samples(b) {
				all[sample]++
			}
		}
		for stop := range 4 {
			got := map[string]int{}
			var position loader.Position
			for r := range c.ranks[0] {
				k := 0
				for b, err := range rank(c.before, r, c.ranks[0]).Epoch(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					for _, sample := range samples(b) {
						got[sample]++
					}
					position = b.Position()
					if k++; k > stop {
						break
					}
				}
			}
			for r := range c.ranks[1] {
				for b, err := range rank(c.after, r, c.ranks[1]).From(t.Context(), position, 1) {
					if err != nil {
						t.Fatal(err)
					}
					for _, sample := range samples(b) {
						got[sample]++
					}
				}
			}
			if !maps.Equal(got, all) {
				t.Errorf("%s, after %d batches each: %d samples, want the %d of an uninterrupted epoch", c.name, stop+1, len(got), len(all))
			}
		}
	}
}

func TestFixedLoadsWhatBatchSizeDoes(t *testing.T) {
	order := sampler.Shuffle(sharded, 6)
	size := loadertest.New(t, augmented(sharded), loader.Workers(2), loader.Sampler(order), loader.BatchSize(4), loader.Seed(2))
	fixed := loadertest.New(t, augmented(sharded), loader.Workers(2), loader.BatchSampler(sampler.Fixed(order, sampler.BatchSize(4))), loader.Seed(2))
	var want, got []string
	for b := range size.Epoch(t.Context(), 1) {
		want = append(want, fmt.Sprint(samples(b), b.Position().Draw))
	}
	for b := range fixed.Epoch(t.Context(), 1) {
		got = append(got, fmt.Sprint(samples(b), b.Position().Draw))
	}
	if len(want) != (sharded+3)/4 || !slices.Equal(got, want) {
		t.Error("batches differ")
	}
}

func TestRanksOfBatchSamplersHaveTheirOwnRandomNumbers(t *testing.T) {
	draws := sampler.Random(1, 0, sampler.Draws(16))
	seen := map[string]int{}
	for rank := range 2 {
		s, err := sampler.ShardBatches(sampler.Fixed(draws, sampler.BatchSize(4)), rank, 2, sampler.KeepExact)
		if err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, augmented(1), loader.Workers(2), loader.BatchSampler(s))
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

// TestRanksThatShareExactlyAgreeOnEveryPosition: after the same batch all ranks that have it are at
// the same position, and a resume of all ranks from there repeats and loses nothing.
func TestRanksThatShareExactlyAgreeOnEveryPosition(t *testing.T) {
	const size = 3
	shared := func(n, rank, world int, cut bool) *loader.Loader {
		options := []loader.Option{loader.BatchSize(size), loader.Ranks(rank, world, sampler.KeepExact)}
		if cut { // batches of a sampler that is shared before it is cut
			s, err := sampler.Shard(sampler.Sequential(n), rank, world, sampler.KeepExact)
			if err != nil {
				t.Fatal(err)
			}
			options = []loader.Option{loader.BatchSampler(sampler.Fixed(s, sampler.BatchSize(size)))}
		}
		return loadertest.New(t, &fake{n: n}, append(options, loader.Workers(1))...)
	}
	for world := 1; world <= 5; world++ {
		for n := world * size; n <= 2*world*size; n++ {
			cut := n%2 == 0
			var ranks []*loader.Loader
			var indices [][][]int // by rank and batch
			var positions []loader.Position
			for rank := range world {
				l := shared(n, rank, world, cut)
				ranks = append(ranks, l)
				var own [][]int
				for b, err := range l.Epoch(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					k := len(own)
					own = append(own, append([]int(nil), b.Indices()...))
					switch p := b.Position(); {
					case rank == 0:
						positions = append(positions, p)
					case fmt.Sprint(p) != fmt.Sprint(positions[k]):
						t.Errorf("%d samples, %d ranks: after batch %d rank %d is at draw %d, rank 0 at %d", n, world, k, rank, p.Draw, positions[k].Draw)
					}
				}
				indices = append(indices, own)
			}
			for k, p := range positions {
				times := make([]int, n)
				for rank, l := range ranks {
					for _, batch := range indices[rank][:min(k+1, len(indices[rank]))] {
						for _, i := range batch {
							times[i]++
						}
					}
					for b, err := range l.From(t.Context(), p, 1) {
						if err != nil {
							t.Fatal(err)
						}
						for _, i := range b.Indices() {
							times[i]++
						}
					}
				}
				for i, got := range times {
					if got != 1 {
						t.Errorf("%d samples, %d ranks, resumed after batch %d: sample %d came %d times", n, world, k, i, got)
					}
				}
			}
			if last := positions[len(positions)-1].Draw; last != n {
				t.Errorf("%d samples, %d ranks: the last position is at draw %d", n, world, last)
			}
		}
	}
}
