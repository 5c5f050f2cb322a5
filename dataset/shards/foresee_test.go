package shards_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// costlyLoader has 4 workers that take 1.5 ms per sample, and mixes 8 blocks.
func costlyLoader(t *testing.T, ds *shards.Dataset) *loader.Loader {
	t.Helper()
	costly, err := dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error {
		time.Sleep(1500 * time.Microsecond)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(costly, loader.Workers(4), loader.BatchSize(64),
		loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(8))))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Shards of 200 blocks at 30 ms (lognormal) to the first byte, with the time of the bubble:
// 4 workers that take 1.5 ms per sample make 2,667 samples/s, if nothing else takes time.
func TestForeseenShardsTakeAsLongAsLocalOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const shardCount, each, rows, epochs = 10, 1000, 50, 2
		s := numberedShards(t, shardCount, each)
		index := scan(t, s, shards.WebDataset(), rows*1024, "s{0..9}.tar")
		s.take()
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(1, 2))
		s.before = func(context.Context, string, int64) error {
			mu.Lock()
			d := 0.030 * math.Exp(0.3*r.NormFloat64())
			mu.Unlock()
			time.Sleep(time.Duration(d * float64(time.Second)))
			return nil
		}
		p, err := prefetch.New(s, prefetch.MaxBytes(40*rows*1024))
		if err != nil {
			t.Fatal(err)
		}
		ds := numberedDataset(t, p, index, shards.MaxBytes(16*rows*1024))
		l := costlyLoader(t, ds)
		for epoch := range epochs {
			begin := time.Now()
			n := 0
			for b, err := range l.Epoch(t.Context(), epoch) {
				if err != nil {
					t.Fatal(err)
				}
				n += b.Len()
				for row, i := range b.Indices() {
					if got := loader.Values[int64](b, "n")[row]; got != int64(i) {
						t.Fatalf("sample %d is %d", i, got)
					}
				}
			}
			took := time.Since(begin)
			reads := s.take()
			slices.Sort(reads)
			blocks := len(ds.Ends())
			t.Logf("epoch %d: %d samples of %d blocks in %v, %d requests; %v", epoch, n, blocks, took, len(reads), p.Stats())
			if limit := 3750 * time.Millisecond * 100 / 95; n != shardCount*each || took > limit {
				t.Errorf("epoch %d: %d samples in %v, want %v at most", epoch, n, took, limit)
			}
			if len(slices.Compact(slices.Clone(reads))) != len(reads) || len(reads) > blocks {
				t.Errorf("epoch %d: %d requests for %d blocks", epoch, len(reads), blocks)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestALaterEpochWaitsForNoBlockThatMemoryHeld has room for 16 of 36 blocks. Those that are in
// memory when an epoch is foreseen have gone by the time it reads them.
func TestALaterEpochWaitsForNoBlockThatMemoryHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rows, epochs = 50, 4
		s := numberedShards(t, 6, 300)
		index := scan(t, s, shards.WebDataset(), rows*1024, "s{0..5}.tar")
		s.before = func(context.Context, string, int64) error {
			time.Sleep(30 * time.Millisecond)
			return nil
		}
		p, err := prefetch.New(s, prefetch.MaxBytes(16*rows*1024))
		if err != nil {
			t.Fatal(err)
		}
		ds := numberedDataset(t, p, index, shards.MaxBytes(16*rows*1024))
		l := costlyLoader(t, ds)
		begin, n := time.Now(), 0
		for b, err := range l.Epochs(t.Context(), 0, epochs) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.Len()
		}
		took, computing := time.Since(begin), time.Duration(n)*1500*time.Microsecond/4
		blocks := len(ds.Ends())
		t.Logf("%d samples of %d blocks in %v, of which %v compute; %v", n, blocks, took, computing, p.Stats())
		if took > computing*21/20 {
			t.Errorf("took %v, want 1.05 times %v at most", took, computing)
		}
		if got := p.Stats(); got.Fetched > int64(epochs*blocks) || got.Direct > int64(epochs) {
			t.Errorf("%d epochs of %d blocks: %v", epochs, blocks, got)
		}
	})
}

func TestStoreThatForeseesNothingIsNotTold(t *testing.T) {
	s, index := numbered(t)
	if numberedDataset(t, s, index).Foresee(nil) != nil {
		t.Error("want nil for a store that is no Foreseer")
	}
}

// TestDamageOfAForeseenBlockIsReadAgain damages the first read of a block, whose checksum the
// prefetcher has computed.
func TestDamageOfAForeseenBlockIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, index := numbered(t)
		p, err := prefetch.New(s)
		if err != nil {
			t.Fatal(err)
		}
		ds := numberedDataset(t, p, index)
		damaged := 0
		s.damage = func(name string, off int64, p []byte) {
			if name == "s0.tar" && off == 5120 && len(p) == 5120 {
				p[700] ^= 1
				damaged++
			}
		}
		l, err := loader.New(ds, loader.BatchSize(4))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.Len()
		}
		if n != ds.Len() || damaged != 1 {
			t.Errorf("%d of %d samples, %d damaged reads of the block", n, ds.Len(), damaged)
		}
		want := []string{"s0.tar 5120 1", "s0.tar 5121 5119"}
		if got := s.take(); !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
			t.Errorf("reads %q, want also %q", got, want)
		}
	})
}
