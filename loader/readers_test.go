package loader_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestReadersKnowTheirWorker holds through wrappers and in batches. The number of a
// Reader's worker never changes.
func TestReadersKnowTheirWorker(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		var mu sync.Mutex
		seen := map[int]bool{}
		ds := &fake{n: 64, place: func(ctx context.Context, i int, dst dataset.Slot) error {
			id, ok := dataset.Worker(ctx)
			if !ok {
				return errors.New("no worker")
			}
			time.Sleep(10 * time.Microsecond)
			mu.Lock()
			defer mu.Unlock()
			seen[id] = true
			return nil
		}}
		both, err := dataset.Concat(ds, &gatherer{fake: ds})
		if err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, both, loader.Workers(workers), loader.BatchSize(4))
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for id := range seen {
			if id < 0 || id >= max(1, workers) {
				t.Errorf("%d workers: one has the number %d", workers, id)
			}
		}
		if len(seen) == 0 {
			t.Error("nothing was placed")
		}
	}
	if id, ok := dataset.Worker(t.Context()); ok {
		t.Errorf("worker %d outside a loader", id)
	}
}

func TestReaderThatFailsToOpen(t *testing.T) {
	for _, workers := range []int{0, 3} {
		ds := &fake{n: 8, open: func() error { return fs.ErrPermission }}
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(2))
		got := outcome(t, l)
		if len(got) != 1 || !strings.Contains(got[0], "open dataset: permission denied") {
			t.Errorf("%d workers: got %q", workers, got)
		}
	}
}

// A gatherer is a fake whose Reader places whole batches. It fails on batches with a
// bad sample.
type gatherer struct {
	*fake
	calls atomic.Int64
}

func (g *gatherer) Open() (dataset.Reader, error) { return gatherReader{fakeReader{g.fake}, g}, nil }

type gatherReader struct {
	fakeReader
	g *gatherer
}

func (r gatherReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	r.g.calls.Add(1)
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestBatchReaderPlacesWholeBatches(t *testing.T) {
	for _, help := range []bool{true, false} {
		ds := &gatherer{fake: failing(16, func(i int) bool { return i == 9 })}
		l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(8), loader.Help(help), loader.Skip(loader.NoLimit))
		got := outcome(t, l)
		want := []string{"[0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]", "[8 10 11 12 13 14 15] [8 10 11 12 13 14 15]"}
		if !slices.Equal(got, want) {
			t.Errorf("help %v: got %q, want %q", help, got, want)
		}
		if calls, most := ds.calls.Load(), int64(4); calls < 2 || calls > most {
			t.Errorf("help %v: %d calls of PlaceBatch, want 2 to %d", help, calls, most)
		}
	}
}

func TestBatchReadersMayComeLateToHelp(t *testing.T) {
	l := loadertest.New(t, &gatherer{fake: &fake{n: 4000}}, loader.Workers(8), loader.BatchSize(2), loader.InFlight(2))
	for range 3 { // so that the race detector sees late claims
		if got := len(collect(t, l, 0, 1)); got != 2000 {
			t.Errorf("%d batches, want 2000", got)
		}
	}
}

func TestFirstBatchWithoutWorkersIsPlacedByOneCall(t *testing.T) {
	ds := &gatherer{fake: &fake{n: 16}}
	l := loadertest.New(t, ds, loader.Workers(0), loader.BatchSize(8))
	collect(t, l, 0, 1)
	if got := ds.calls.Load(); got != 2 {
		t.Errorf("%d calls of PlaceBatch, want one a batch", got)
	}
}
