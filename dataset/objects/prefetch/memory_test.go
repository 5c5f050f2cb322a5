package prefetch_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/loader"
)

// filesFrom is n objects of the store, from the first one on.
func filesFrom(s *far, first, n int) objects.Blocks {
	of := filesOf(s)
	of.Len = n
	at := of.At
	of.At = func(block int, dst []objects.Block) []objects.Block { return at(first+block, dst) }
	return of
}

// holding is a dataset that notes how much is held when a sample is read.
func holding(t *testing.T, ds dataset.Dataset, p *prefetch.Prefetcher, most *atomic.Int64) dataset.Dataset {
	t.Helper()
	var mu sync.Mutex
	ds, err := dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error {
		mu.Lock()
		defer mu.Unlock()
		most.Store(max(most.Load(), p.Stats().Held))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// Four datasets would hold four times as much.
func TestDatasetsOfALoopShareItsMemory(t *testing.T) {
	const n, size, memory, cost, workers = 1200, 1000, 40_000, 12 * time.Millisecond, 2
	synctest.Test(t, func(t *testing.T) {
		s := newFar(n, size)
		p := newPrefetcher(t, s, prefetch.MaxBytes(memory))
		var parts []dataset.Dataset
		for k := range 4 {
			fsys, err := objects.NewFS(t.Context(), p, "")
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, pairsOf(t, s, fsys, fsys, k*n/4, k*n/4, n/4))
		}
		ds, err := dataset.Concat(parts...)
		if err != nil {
			t.Fatal(err)
		}
		var most atomic.Int64
		got := run(t, costly(t, holding(t, ds, p, &most), cost), 1, loader.Workers(workers), loader.BatchSize(8))
		t.Logf("%v, at most %d bytes; %v", got.took, most.Load(), p.Stats())
		if limit := int64(memory + 4*size); most.Load() > limit || most.Load() < memory/2 {
			t.Errorf("at most %d bytes were held, want %d, or some less", most.Load(), limit)
		}
		if limit := n * cost / workers * 100 / 90; got.took > limit {
			t.Errorf("the epoch took %v, want %v at most; %v", got.took, limit, p.Stats())
		}
	})
}

// A part has no block yet, and the others hold all that may be fetched at first.
func TestEveryDatasetOfALoopMayFetchABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(200, 1<<20)
		p := newPrefetcher(t, s, prefetch.MaxBytes(64<<20))
		whole := &moving{batches: make([][]int, 64)}
		whole.begun.Store(1)
		stopFirst := p.Foresee(partOf{whole, 2}, filesFrom(s, 0, 128))
		time.Sleep(time.Second)
		if got := p.Stats().Held; got != 64<<20 {
			t.Fatalf("%d bytes are held, want 64 MiB", got)
		}
		stopSecond := p.Foresee(partOf{whole, 1}, filesFrom(s, 128, 64))
		time.Sleep(time.Second)
		if got := p.Stats().Held; got != 65<<20 {
			t.Errorf("%d bytes are held, want 65 MiB", got)
		}
		stopFirst()
		stopSecond()
	})
}

// One part has looked at all of its batches, and its samples are not read. What it holds is
// free when these batches are complete.
func TestBlocksOfADatasetThatIsCompleteAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(30, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(10_000))
		whole := &moving{batches: make([][]int, 20)}
		whole.begun.Store(1)
		stopFirst := p.Foresee(partOf{whole, 1}, filesFrom(s, 0, 9))
		synctest.Wait() // it has looked at all batches
		stopSecond := p.Foresee(partOf{whole, 1}, filesFrom(s, 9, 20))
		time.Sleep(time.Second)
		whole.begun.Store(10)
		whole.done.Store(9)
		o := s.object(0)
		if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil { // epochs look again
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := p.Stats(); got.Held != 10_000 || got.Fetched != 20 {
			t.Errorf("%+v, want 10 blocks of the second dataset after 10 of both", got)
		}
		stopFirst()
		stopSecond()
	})
}

// A partOf has the next samples of a dataset in every batch of a loop.
type partOf struct {
	*moving
	each int // samples of a batch
}

func (f partOf) Underlying() dataset.Future { return f.moving }

func (f partOf) At(batch int, dst []int) []int {
	for k := range f.each {
		dst = append(dst, f.each*batch+k)
	}
	return dst
}

// nearStore answers at once.
type nearStore struct{ *far }

func (nearStore) ReadAt(context.Context, objects.Object, []byte, int64) error { return nil }

// BenchmarkPartsOfALoop reads batches of one block of every dataset. The time per block grows
// with the number of datasets, not with its square.
func BenchmarkPartsOfALoop(b *testing.B) {
	for _, parts := range []int{5, 50, 500} {
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			batches := 5000 / parts
			s := newFar(parts*batches, 100)
			p := newPrefetcher(b, nearStore{s})
			block := make([]byte, s.size)
			for b.Loop() {
				whole := &moving{batches: make([][]int, batches)}
				var stops []func()
				for k := range parts {
					stops = append(stops, p.Foresee(partOf{whole, 1}, filesFrom(s, k*batches, batches)))
				}
				for k := range batches {
					whole.begun.Store(int64(k + 1))
					for part := range parts {
						if err := p.ReadAt(b.Context(), s.object(part*batches+k), block, 0); err != nil {
							b.Fatal(err)
						}
					}
					whole.done.Store(int64(k + 1))
				}
				for _, stop := range stops {
					stop()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*parts*batches), "ns/block")
		})
	}
}
