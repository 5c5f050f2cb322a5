package loader_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// An advised dataset remembers the samples that it was told.
type advised struct {
	*fake
	opens time.Duration // what it takes to be told a sample
	mu    sync.Mutex
	told  []int
}

func (a *advised) ReadAhead(_ context.Context, indices []int) {
	if a.opens > 0 {
		time.Sleep(time.Duration(len(indices)) * a.opens)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, indices...)
}

func TestReadAheadTellsOfTheNextBatchWhereReadsAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			read time.Duration
			want []int
		}{
			{time.Millisecond, []int{2, 3, 4, 5, 6, 7}},
			{time.Microsecond, []int{2, 3}}, // before any read was measured
		} {
			ds := &advised{fake: &fake{n: 8, place: func(_ context.Context, i int, dst dataset.Slot) error {
				dst.Stage(dataset.StageRead)
				time.Sleep(test.read)
				return nil
			}}}
			l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(2))
			for range l.Epoch(t.Context(), 0) {
			}
			if !slices.Equal(ds.told, test.want) {
				t.Errorf("reads of %v: told of %v, want %v", test.read, ds.told, test.want)
			}
		}
	})
}

func TestReadAheadBeyondTheEndIsNothing(t *testing.T) {
	ds := &advised{fake: &fake{n: 8}}
	l := loadertest.New(t, ds, loader.Workers(1), loader.ReadAhead(math.MaxInt))
	if got := len(collect(t, l, 0, 1)); got != 8 || len(ds.told) != 0 {
		t.Errorf("%d batches, told of %v", got, ds.told)
	}
}

// TestReadAheadEndsWhereItTakesAsLongAsReading: on some storage opening a file is what
// takes long, and workers would spend half of their time on it.
func TestReadAheadEndsWhereItTakesAsLongAsReading(t *testing.T) {
	for _, c := range []struct {
		opens time.Duration
		least int // samples that the dataset is told, of 8,000
		most  int
		took  time.Duration
	}{
		{80 * ms, 1, 20, 42 * time.Second},
		{10 * ms, 8000 - 8*(2*silence+40), 8000, 55 * time.Second}, // a worker that knows few reads may be silent once more
		{0, 7900, 8000, 41 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ds := &advised{fake: throttled(), opens: c.opens}
			ds.n = 8000
			l := loadertest.New(t, ds, loader.Workers(16), loader.BatchSize(8))
			begun := time.Now()
			for range l.Epoch(t.Context(), 0) {
			}
			if n := len(ds.told); n < c.least || n > c.most {
				t.Errorf("told of %d samples that took %v each, want %d to %d", n, c.opens, c.least, c.most)
			}
			if took := time.Since(begun); took > c.took {
				t.Errorf("%v with %v for every sample that is told, want %v at most", took, c.opens, c.took)
			}
		})
	}
}

// silence is the number of batches after which a dataset is asked again.
const silence = 64

// A batchesOf is a batch sampler with the batches of every epoch.
type batchesOf []fixedBatches

func (b batchesOf) Epoch(epoch int) sampler.Batches { return b[epoch] }

// TestReadAheadOutlivesAnEmptyBatch: an empty batch ends the loop with an error, and there is
// nothing to tell of it. The next loop goes on.
func TestReadAheadOutlivesAnEmptyBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := &advised{fake: throttled()}
		ds.n = 4
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSampler(batchesOf{{{0}, {}, {1}}, {{0}, {1}, {2}, {3}}}))
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "empty batch") {
			t.Fatalf("got %v, want the error of an empty batch", last)
		}
		for _, err := range l.Epoch(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := []int{1, 2, 3}; !slices.Equal(ds.told, want) {
			t.Errorf("told of %v, want %v", ds.told, want)
		}
	})
}
