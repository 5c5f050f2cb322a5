package loader_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestSamplesAreNotTimedWhereTheyAreQuick has slow samples among quick ones: one alone, and
// two in batches that follow each other. They are not told of, but the four batches after the
// two are.
func TestSamplesAreNotTimedWhereTheyAreQuick(t *testing.T) {
	const n, batch, alone, slow = 2000, 4, 500, 1000
	for _, workers := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			var told []int
			took := time.Duration(0)
			ds := &fake{n: n, place: func(_ context.Context, i int, _ dataset.Slot) error {
				if i == alone || i == slow || i == slow+batch {
					time.Sleep(time.Second)
				}
				time.Sleep(19 * time.Microsecond)
				return nil
			}}
			l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(batch), loader.Observe(loader.Trace{SampleSlow: func(s loader.SampleInfo) {
				told = append(told, s.Index)
				took += s.Took
			}}))
			collect(t, l, 0, 1)
			var want []int
			for i := range 4 * batch {
				want = append(want, i)
			}
			for i := range 4 * batch {
				want = append(want, slow+2*batch+i)
			}
			if !slices.Equal(told, want) || took != time.Duration(len(want))*19*time.Microsecond {
				t.Errorf("%d workers: told of samples %v, which took %v; want %v", workers, told, took, want)
			}
		})
	}
}

// TestWorkingTimesQuickSamplesFromTheirBatch has a sample that hangs among quick ones.
func TestWorkingTimesQuickSamplesFromTheirBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := &fake{n: 400, place: func(_ context.Context, i int, _ dataset.Slot) error {
			time.Sleep(10 * time.Microsecond)
			if i == 398 {
				time.Sleep(time.Minute)
			}
			return nil
		}}
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(4))
		l.Working()
		go func() {
			time.Sleep(30 * time.Second)
			all := l.Working()
			if a := all[1]; a.Index != 398 || a.For != all[0].For || a.For < 29*time.Second {
				t.Errorf("got %+v, want sample 398 for as long as the loop waits", all)
			}
		}()
		collect(t, l, 0, 1)
	})
}

// quick is a fake whose samples take 5 µs.
func quick(n int) *fake {
	return &fake{n: n, place: func(context.Context, int, dataset.Slot) error {
		time.Sleep(5 * time.Microsecond)
		return nil
	}}
}

// TestHooksOfQuickWorkersAreTimedFromTheirCall has a worker that waits for memory while the
// loop body takes a minute, twice the Timeout. The hook that is told of the wait still runs
// when the loop ends.
func TestHooksOfQuickWorkersAreTimedFromTheirCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := quick(400)
		opened, closed := 0, 0
		ds.open = func() error { opened++; return nil }
		ds.close = func() error { closed++; return nil }
		var l *loader.Loader
		var waited []loader.Activity
		l = loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(4), loader.Timeout(30*time.Second), loader.Observe(loader.Trace{
			MemoryWaited: func(_ int, took time.Duration) {
				if took < 30*time.Second {
					return
				}
				time.Sleep(time.Second)
				all := l.Working()
				waited = append(waited, all[len(all)-1])
			},
		}))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Number() == 20 {
				time.Sleep(time.Minute)
			}
			if b.Number() == 21 {
				time.Sleep(100 * time.Millisecond) // in which the hook begins
				break
			}
		}
		if len(waited) != 1 || waited[0].Doing != "calling a hook" || waited[0].For != time.Second {
			t.Errorf("a second after the hook was called, got %+v", waited)
		}
		collect(t, l, 1, 2)
		if opened != 1 || closed != 0 {
			t.Errorf("%d Readers were opened and %d closed, want the same one in both loops", opened, closed)
		}
	})
}

// TestSamplesAreQuickWhereCollateIsNot has samples of 5 µs and steps of 10 ms for a batch.
func TestSamplesAreQuickWhereCollateIsNot(t *testing.T) {
	const n, batch = 12800, 64
	for _, workers := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var told atomic.Int64
			l := loadertest.New(t, quick(n), loader.Workers(workers), loader.BatchSize(batch), loader.Collate(slowCollate(10*ms)),
				loader.Observe(loader.Trace{SampleSlow: func(loader.SampleInfo) { told.Add(1) }}))
			collect(t, l, 0, 1)
			least, most := int64(4*batch), int64(4*batch)
			if workers > 1 { // they help each other, so the samples of their first batches vary
				most = n / 4
			}
			if got := told.Load(); got < least || got > most {
				t.Errorf("%d workers: told of %d of %d samples, want %d to %d", workers, got, n, least, most)
			}
		})
	}
}
