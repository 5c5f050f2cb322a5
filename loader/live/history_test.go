package live_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
)

// TestBusyFollowsAuto from 2 workers to many, all of them busy.
func TestBusyFollowsAuto(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		ds := datatest.Numbers(50_000, func(int, dataset.Slot) error {
			time.Sleep(20 * time.Millisecond)
			return nil
		})
		l := loadertest.New(t, ds, loader.Workers(loader.Auto), loader.Observe(view.Trace("train")))
		made := time.Now()
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(made) > 4*time.Second {
				break
			}
		}
		if r, s := reports(t, &view)[0], l.Stats(); s.Workers < 16 || r.Recent.Busy < 0.9 {
			t.Errorf("got %.0f%% busy, want nearly all of many, with %v", 100*r.Recent.Busy, s.Tuning)
		}
	})
}

func TestTheHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		l := loadertest.New(t, fake(make([]string, 1000), steady(time.Second)), loader.Workers(1), loader.Observe(view.Trace("")))
		for range l.Epoch(t.Context(), 0) {
		}
		r := reports(t, &view)[0]
		if n := len(r.History); n < 290 || n > 300 || r.History[0].Ago > 310 {
			t.Errorf("got %d moments, the first %v s ago", n, r.History[0].Ago)
		}
	})
}

// TestTheHistoryHasNoGapWhereBatchesBecomeSlow: batches of 10 ms already count as slow ones.
func TestTheHistoryHasNoGapWhereBatchesBecomeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		took := func(i int) time.Duration {
			if i < 200 {
				return 10 * time.Millisecond
			}
			return 10 * time.Second
		}
		l := loadertest.New(t, fake(make([]string, 220), took), loader.Workers(1), loader.Observe(view.Trace("")))
		for range l.Epoch(t.Context(), 0) {
		}
		all := reports(t, &view)[0].History
		for i := range all[1:] {
			if gap := all[i].Ago - all[i+1].Ago; gap > 11 {
				t.Errorf("there is no moment from %.0f s ago on, for %.0f s", all[i].Ago, gap)
			}
		}
		if len(all) < 20 {
			t.Errorf("got %d moments, want one for every slow batch", len(all))
		}
	})
}
