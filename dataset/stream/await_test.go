package stream_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// A loop gets a record when it is sealed, long before a block is large, and the last
// window when the source ends.
func TestALoopDoesNotWaitForMoreThanItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan int)
		go func() {
			defer close(c)
			for i := range 20 {
				time.Sleep(time.Second)
				c <- i
			}
		}()
		spec := numbersSpec[:1]
		ds := open(t, stream.Channel(c, spec, func(v int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(v))
			return nil
		}), t.TempDir(), stream.Window(6))
		l := loadertest.New(t, ds, loader.BatchSize(3), loader.Workers(2))
		begun := time.Now()
		var at []time.Duration
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, time.Since(begun)/time.Second)
		}
		if want := []time.Duration{6, 6, 12, 12, 18, 18, 20}; !slices.Equal(at, want) {
			t.Errorf("batches came after %d seconds, want %d", at, want)
		}
	})
}

func TestCancelIsPromptAndLeavesNoGoroutine(t *testing.T) {
	for _, workers := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
			c := make(chan int)
			ds := open(t, stream.Channel(c, numbersSpec, func(int, dataset.Slot) error { return nil }), t.TempDir())
			l := loadertest.New(t, ds, loader.Workers(workers))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			for _, err := range l.Epoch(ctx, 0) {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			}
			if waited := time.Since(begun); waited != time.Minute {
				t.Errorf("%d workers: the loop ended after %v, want a minute", workers, waited)
			}
		})
	}
}

// A loop gets the records that it needs, also if another one waits for more, or has.
func TestALoopDoesNotWaitForTheNeedsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := func(ctx context.Context, i int) error {
			if i < 5 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ds := open(t, &numbers{n: -1, wait: stalls}, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if _, _, err := ds.Await(ctx, 100, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		for _, n := range []int{3, 5} {
			if have, _, err := ds.Await(t.Context(), n, nil); have < n || err != nil {
				t.Errorf("Await(%d): got %d, %v", n, have, err)
			}
		}
		cancel()
		group.Wait()
	})
}

// Two loops over one spool at once get the same.
func TestTwoLoopsShareASpool(t *testing.T) {
	const n = 2000
	ds := open(t, &numbers{n: n}, t.TempDir(), stream.Window(60), stream.BlockSize(1<<10))
	var group sync.WaitGroup
	for workers := range 2 {
		l := loadertest.New(t, ds, loader.BatchSize(7), loader.Workers(workers+1))
		group.Go(func() {
			var got []int64
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, loader.Values[int64](b, "n")...)
			}
			if !slices.Equal(got, order(n, 60, 0)) {
				t.Errorf("%d records that differ", len(got))
			}
		})
	}
	group.Wait()
}
