package loader_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// An advised dataset remembers the samples that it was told.
type advised struct {
	*fake
	mu   sync.Mutex
	told []int
}

func (a *advised) ReadAhead(_ context.Context, indices []int) {
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
			l := newLoader(t, ds, loader.Workers(1), loader.BatchSize(2))
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
	l := newLoader(t, ds, loader.Workers(1), loader.ReadAhead(math.MaxInt))
	if got := len(collect(t, l, 0, 1)); got != 8 || len(ds.told) != 0 {
		t.Errorf("%d batches, told of %v", got, ds.told)
	}
}
