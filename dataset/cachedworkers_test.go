package dataset_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestCachedReadsASampleOnceForAllWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		reads := 0 // no lock: more than one reader would be a race
		slow := dataset.Func(1, dataset.Spec{labelField}, func(_ context.Context, i int, dst dataset.Slot) error {
			reads++
			<-gate
			dataset.Set(dst, 0, int64(7))
			return nil
		})
		c := cached(t, slow, 1<<20)
		ctx, cancel := context.WithCancel(t.Context())
		impatient := make(chan error, 1)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				slot := dataset.NewSlot(labelField)
				if err := datatest.Open(t, c).Place(t.Context(), 0, slot); err != nil || dataset.Row[int64](slot, 0)[0] != 7 {
					t.Errorf("placed %v, %v; want 7", dataset.Row[int64](slot, 0), err)
				}
			})
		}
		synctest.Wait()
		go func() { impatient <- datatest.Open(t, c).Place(ctx, 0, dataset.NewSlot(labelField)) }()
		synctest.Wait()
		cancel()
		if err := <-impatient; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while another worker reads: %v, want %v", err, context.Canceled)
		}
		close(gate)
		group.Wait()
		if reads != 1 {
			t.Errorf("%d reads, want 1", reads)
		}
	})
}

func TestWaitingWorkersTryAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var reads atomic.Int32
		ds := dataset.Func(1, dataset.Spec{labelField}, func(_ context.Context, i int, dst dataset.Slot) error {
			<-gate
			if reads.Add(1) == 1 {
				return errors.New("broken")
			}
			return nil
		})
		c := cached(t, ds, 1<<20)
		var failures atomic.Int32
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				if datatest.Open(t, c).Place(t.Context(), 0, dataset.NewSlot(labelField)) != nil {
					failures.Add(1)
				}
			})
		}
		synctest.Wait()
		close(gate)
		group.Wait()
		if failures.Load() != 1 || reads.Load() != 2 {
			t.Errorf("%d failures of 5 after %d reads, want 1 after 2", failures.Load(), reads.Load())
		}
	})
}

// TestSamplesThatAreTooLargeTakeNoRoom reads large samples, of which none fits, beside small ones, which all do.
func TestSamplesThatAreTooLargeTakeNoRoom(t *testing.T) {
	const n, workers = 20_000, 4
	const limit = n / 2 * (1 + 8) // a byte, and its length
	field := dataset.Field{Name: "x", Dtype: dataset.Uint8, Ragged: true}
	ds := dataset.Func(n, dataset.Spec{field}, func(_ context.Context, i int, dst dataset.Slot) error {
		size := 1
		if i%2 == 1 {
			size = limit
		}
		dst.Cell(0).Grow(size)
		return nil
	})
	c := cached(t, ds, limit)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			r, slot := datatest.Open(t, c), dataset.NewSlot(field)
			for i := range n {
				if i%workers != w {
					continue
				}
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Error(err)
					return
				}
				if s := dataset.StatsOf(c); s.Bytes > limit {
					t.Errorf("%v in the meantime", s)
					return
				}
			}
		})
	}
	group.Wait()
	if s := dataset.StatsOf(c); s.Samples != n/2 || s.Bytes != limit {
		t.Errorf("%v: want the %d small ones", s, n/2)
	}
}
