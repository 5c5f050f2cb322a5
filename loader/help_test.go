package loader_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// waits is how long the loop waited for every batch, in the test bubble's time.
func waits(t *testing.T, l *loader.Loader) (all []time.Duration) {
	t.Helper()
	since := time.Now()
	for _, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(since))
		since = time.Now()
	}
	return all
}

func TestHelpBringsTheFirstBatchSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, batch, each = 8, 32, 10 * time.Millisecond
		first := func(help bool) time.Duration {
			l := loadertest.New(t, slow(32*batch, always(each)), loader.Workers(workers), loader.BatchSize(batch), loader.Help(help))
			return waits(t, l)[0]
		}
		alone, together := first(false), first(true)
		if alone != batch*each {
			t.Errorf("without help the first batch took %v, want %v", alone, batch*each)
		}
		if limit := alone * 13 / 10 / workers; together > limit {
			t.Errorf("with help the first batch took %v, want at most %v", together, limit)
		}
	})
}

func TestHelpDeliversEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, batch, each = 8, 32, 10 * time.Millisecond
		run := func(help bool) (longest, median time.Duration, all []time.Duration) {
			l := loadertest.New(t, slow(64*batch, always(each)), loader.Workers(workers), loader.BatchSize(batch), loader.Help(help))
			all = waits(t, l)
			sorted := slices.Sorted(slices.Values(all))
			return sorted[len(sorted)-1], sorted[len(sorted)/2], all
		}
		longest, median, all := run(true)
		if longest > 2*median {
			t.Errorf("with help the longest wait is %v, the median %v: %v", longest, median, all)
		}
		_, _, all = run(false)
		for k, wait := range all {
			if peak := wait > batch*each/2; peak != (k%workers == 0) {
				t.Errorf("without help batch %d took %v, want a peak every %d batches", k, wait, workers)
			}
		}
	})
}

func TestSlowSampleDelaysOnlyItsOwnBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		placed := new(atomic.Int64)
		each := func(i int) time.Duration {
			if i == 4 {
				return time.Second
			}
			return time.Millisecond
		}
		ds := slow(160, each)
		place := ds.place
		ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
			if err := place(ctx, i, dst); err != nil {
				return err
			}
			placed.Add(1)
			return nil
		}
		l := loadertest.New(t, ds, loader.Workers(4), loader.BatchSize(8))
		go func() {
			time.Sleep(900 * time.Millisecond)
			// All slabs but one hold complete batches. That one lacks a sample.
			s := l.Stats()
			if want := int64(s.Slabs*8 - 1); placed.Load() != want || s.Ready != s.Slabs-1 {
				t.Errorf("after 0.9 s %d samples are placed and %d batches ready, want %d and %d", placed.Load(), s.Ready, want, s.Slabs-1)
			}
		}()
		all := waits(t, l)
		if all[0] > 1010*time.Millisecond {
			t.Errorf("the batch of the slow sample took %v", all[0])
		}
		for k, wait := range all[1:9] {
			if wait > 0 {
				t.Errorf("batch %d was not ready: the loop waited %v", k+1, wait)
			}
		}
	})
}

func TestUnorderedNeverWaitsForTheSlowSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		each := func(i int) time.Duration {
			if i == 0 {
				return time.Second
			}
			return time.Millisecond
		}
		l := loadertest.New(t, slow(10, each), loader.Workers(2), loader.Unordered(true))
		var order []int
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, b.Indices()[0])
		}
		if len(order) != 10 || order[9] != 0 {
			t.Errorf("delivered %v, want the slow sample 0 last", order)
		}
	})
}

func TestTimeoutNamesTheStuckSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		each := func(i int) time.Duration {
			if i == 5 {
				return time.Hour
			}
			return time.Millisecond
		}
		l := loadertest.New(t, slow(20, each), loader.Workers(2), loader.BatchSize(2), loader.Timeout(time.Minute))
		batches := 0
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				batches++
			}
		}
		var e *loader.TimeoutError
		if batches != 2 || !errors.As(last, &e) || !errors.Is(last, os.ErrDeadlineExceeded) {
			t.Fatalf("after %d batches: %v", batches, last)
		}
		want := regexp.MustCompile(`^loader: epoch 0, batch 2: not ready after 1m0s; worker [01]: sample 5 \(sample-5\) for [\w.]+ in stage fetch$`)
		if !want.MatchString(last.Error()) { // all in one line
			t.Errorf("got %q, want %v", last, want)
		}
	})
}

func TestTimeoutTellsOfKeptSlabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.InFlight(2), loader.Timeout(time.Second))
		var last error
		for b, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				defer b.Keep()()
			}
		}
		if last == nil || !strings.Contains(last.Error(), "2 slabs are kept, release them or raise InFlight") {
			t.Errorf("got %v", last)
		}
	})
}

func TestPrefetchNeverHoldsMoreThanStated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 3} {
			placed := new(atomic.Int64)
			ds := &fake{n: 100, place: func(_ context.Context, i int, dst dataset.Slot) error {
				placed.Add(1)
				return nil
			}}
			l := loadertest.New(t, ds, loader.Workers(workers), loader.InFlight(2*workers+1), loader.BatchSize(1))
			delivered := int64(0)
			for range l.Epoch(t.Context(), 0) {
				delivered++
				synctest.Wait()
				if want := min(100, delivered+2*int64(workers)); placed.Load() != want {
					t.Fatalf("%d workers: %d samples are placed with %d delivered, want %d", workers, placed.Load(), delivered, want)
				}
			}
		}
	})
}

func TestNoWorkersIsLazy(t *testing.T) {
	placed := 0
	ds := &fake{n: 9, place: func(_ context.Context, i int, dst dataset.Slot) error {
		placed++
		return nil
	}}
	l := loadertest.New(t, ds, loader.Workers(0), loader.BatchSize(2))
	for b := range l.Epoch(t.Context(), 0) {
		if want := min(9, 2*(b.Number()+1)); placed != want {
			t.Errorf("at batch %d, %d samples are placed, want %d", b.Number(), placed, want)
		}
	}
}
