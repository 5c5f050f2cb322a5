package loader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// idle is an activity without a batch and a sample.
func idle(worker int, doing string, lasts time.Duration) loader.Activity {
	return loader.Activity{Worker: worker, Doing: doing, Epoch: -1, Batch: -1, Index: -1, For: lasts}
}

func wantWorking(t *testing.T, l *loader.Loader, want ...loader.Activity) {
	t.Helper()
	got := l.Working()
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] || got[i].Calls() != (want[i].Index >= 0) {
			t.Errorf("activity %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestWorkingSaysWhatEveryoneDoes(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ds := &fake{n: 3, place: func(_ context.Context, i int, dst dataset.Slot) error {
				if i > 0 {
					dst.Stage(dataset.StageDecode)
					time.Sleep(10 * time.Second)
				}
				return nil
			}}
			l := loadertest.New(t, ds, loader.Workers(2), loader.Help(false), loader.Timeout(timeout))
			wantWorking(t, l, idle(0, "", 0), idle(1, "", 0))
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Indices()[0] > 0 {
					continue
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				all := l.Working()
				if got, want := all[0], idle(-1, "running the loop body", 2*time.Second); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				found := map[int]bool{}
				for _, a := range all[1:] {
					found[a.Index] = true
					want := loader.Activity{Worker: a.Worker, Doing: "placing a sample", Batch: a.Index, Index: a.Index,
						Name: ds.Name(a.Index), Stage: "decode", For: 2 * time.Second}
					if a != want || !a.Calls() {
						t.Errorf("got %+v, want %+v, a call", a, want)
					}
				}
				if !found[1] || !found[2] {
					t.Errorf("got %+v, want workers at samples 1 and 2", all[1:])
				}
			}
			wantWorking(t, l, idle(0, "", 0), idle(1, "", 0))
		})
	}
}

// TestWithoutATimeoutCallsCountFromTheirBatch has samples of ten seconds, two in a batch.
func TestWithoutATimeoutCallsCountFromTheirBatch(t *testing.T) {
	for _, options := range [][]loader.Option{nil, {loader.Timeout(time.Hour)}, {loader.Observe(loader.Trace{})}} {
		synctest.Test(t, func(t *testing.T) {
			ds := &fake{n: 2, place: func(context.Context, int, dataset.Slot) error { time.Sleep(10 * time.Second); return nil }}
			l := loadertest.New(t, ds, append(options, loader.Workers(1), loader.BatchSize(2))...)
			second := 14 * time.Second
			if options != nil {
				second = 4 * time.Second
			}
			go func() {
				time.Sleep(4 * time.Second)
				wantWorking(t, l, idle(-1, "waiting for a batch", 4*time.Second), loader.Activity{Doing: "placing a sample", Name: ds.Name(0), For: 4 * time.Second})
				time.Sleep(10 * time.Second)
				wantWorking(t, l, idle(-1, "waiting for a batch", 14*time.Second), loader.Activity{Doing: "placing a sample", Index: 1, Name: ds.Name(1), For: second})
			}()
			collect(t, l, 0, 1)
		})
	}
}

func TestWorkingTellsWaitsForMemoryFromWaitsForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, &fake{n: 4}, loader.Workers(1), loader.InFlight(2))
		doing := []string{"waiting for memory", "waiting for memory", "waiting for work", "waiting for work"}
		for b := range l.Epoch(t.Context(), 0) {
			time.Sleep(time.Second)
			synctest.Wait()
			if got, want := l.Working()[1].Doing, doing[b.Indices()[0]]; got != want {
				t.Errorf("batch %d: got %q, want %q", b.Indices()[0], got, want)
			}
		}
	})
}
