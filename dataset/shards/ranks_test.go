package shards_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// TestEightRanksResumeOnFiveAndThenOnThree interrupts an epoch of shards twice, at random
// batches. Each rank has blocks in memory and a prefetcher of its own.
func TestEightRanksResumeOnFiveAndThenOnThree(t *testing.T) {
	const n = 2000
	s := numberedShards(t, 10, n/10)
	index := scan(t, s, shards.WebDataset(), 8<<10, "s{0..9}.tar")
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		seed := uint64(round)
		var position loader.Position
		var got []int
		for k, world := range []int{8, 5, 3} {
			batches := 1 + r.IntN(n/20/world) // then all ranks are interrupted
			if world == 3 {
				batches = n
			}
			var next loader.Position
			for rank := range world {
				p, err := prefetch.New(s)
				if err != nil {
					t.Fatal(err)
				}
				ds := numberedDataset(t, p, index)
				order, err := sampler.Shard(sampler.Grouped(ds.Ends(), seed, sampler.Together(4), sampler.Lanes(8)), rank, world, sampler.KeepExact)
				if err != nil {
					t.Fatal(err)
				}
				l, err := loader.New(ds, loader.BatchSize(7), loader.Workers(1+r.IntN(3)), loader.Sampler(order))
				if err != nil {
					t.Fatal(err)
				}
				from := position
				if k == 0 {
					from = l.Position(0)
				}
				left := batches
				for b, err := range l.From(t.Context(), from, 1) {
					if err != nil {
						t.Fatal(err)
					}
					for row, i := range b.Indices() {
						if n := loader.Values[int64](b, "n")[row]; n != int64(i) {
							t.Fatalf("sample %d is %d", i, n)
						}
						got = append(got, i)
					}
					if left--; left == 0 {
						if rank == 0 {
							next = saved(t, b.Position())
						}
						break
					}
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			position = next
		}
		slices.Sort(got)
		for i := range max(n, len(got)) {
			if len(got) != n || got[i] != i {
				t.Fatalf("round %d: %d samples, want each of %d once", round, len(got), n)
			}
		}
	}
}

// saved is a position as a program reads it that has saved it.
func saved(t *testing.T, p loader.Position) (read loader.Position) {
	t.Helper()
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}
