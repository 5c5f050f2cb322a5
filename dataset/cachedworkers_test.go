package dataset_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

func TestBatchesWaitForEachOthersSamplesInAnyOrder(t *testing.T) {
	const n = 64
	c := cached(t, gather{notes(n, make([]atomic.Int32, n))}, 10_000)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			r := datatest.Open(t, c).(dataset.BatchReader)
			indices := rand.New(rand.NewPCG(uint64(w), 0)).Perm(n)
			batch := datatest.NewSlots(n, c.Spec())
			if err := r.PlaceBatch(t.Context(), indices, batch); err != nil {
				t.Error(err)
			}
			for k, i := range indices {
				if got := dataset.Row[int64](batch[k], 1)[0]; got != int64(-i) {
					t.Errorf("label %d, want %d", got, -i)
				}
			}
		})
	}
	group.Wait()
}

func TestFailedBatchGivesItsSamplesUp(t *testing.T) {
	fail := true
	ds := dataset.Func(4, dataset.Spec{labelField}, func(_ context.Context, i int, dst dataset.Slot) error {
		if fail && i == 2 {
			return errors.New("broken")
		}
		return nil
	})
	r := datatest.Open(t, cached(t, gather{ds}, 1<<20)).(dataset.BatchReader)
	batch := datatest.NewSlots(4, ds.Spec())
	if err := r.PlaceBatch(t.Context(), []int{0, 1, 2, 3}, batch); err == nil {
		t.Error("no error")
	}
	fail = false
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // otherwise a lost claim would wait for ever
	defer cancel()
	if err := r.PlaceBatch(ctx, []int{0, 1, 2, 3}, batch); err != nil {
		t.Error(err)
	}
}
