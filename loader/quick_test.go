package loader_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
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
			l := newLoader(t, ds, loader.Workers(workers), loader.BatchSize(batch), loader.Observe(loader.Trace{SampleSlow: func(s loader.SampleInfo) {
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
		l := newLoader(t, ds, loader.Workers(1), loader.BatchSize(4))
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
