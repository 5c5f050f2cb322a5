package loader_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// TestGoexitEndsTheLoopInItsBatchsPlace, under any policy, with one worker and with others that
// help, sample by sample and in calls for several.
func TestGoexitEndsTheLoopInItsBatchsPlace(t *testing.T) {
	for _, policy := range []loader.Option{{}, loader.Skip(loader.NoLimit)} {
		for _, workers := range []int{1, 3} {
			for _, together := range []bool{false, true} {
				for _, help := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) {
						ends := failing(40, func(i int) bool {
							if i == 19 || i == 20 {
								runtime.Goexit()
							}
							return false
						})
						var ds dataset.Dataset = ends
						if together {
							ds = &gatherer{fake: ends}
						}
						l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(8), policy, loader.Help(help))
						for range 2 { // the loader stays whole
							batches, last := 0, error(nil)
							for _, err := range l.Epoch(t.Context(), 0) {
								if last = err; err == nil {
									batches++
								}
							}
							var sample *loader.SampleError
							if !errors.As(last, &sample) || batches != 2 || sample.Batch != 2 || together == (sample.Index == 19 || sample.Index == 20) && workers == 1 ||
								!strings.HasSuffix(last.Error(), "placing a sample: runtime.Goexit was called") {
								t.Errorf("%d workers, together %t, help %t: %d batches, then %v", workers, together, help, batches, last)
							}
						}
					})
				}
			}
		}
	}
}

// A mumbler is a dataset whose Name ends its goroutine.
type mumbler struct{ *fake }

func (mumbler) Name(int) string { runtime.Goexit(); return "" }

func TestGoexitInNameEndsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, mumbler{failing(4, func(i int) bool { return i == 1 })}, loader.Workers(2), loader.BatchSize(2), loader.Skip(loader.NoLimit))
		got := outcome(t, l)
		if want := []string{"error: loader: sample 1, epoch 0, batch 0: naming a sample: runtime.Goexit was called"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// inGoroutine calls f where it may call runtime.Goexit.
func inGoroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// TestLoopThatUserCodeEndsLeavesTheLoaderWhole: the user code of a worker ends the loop, and
// that of the loop its goroutine.
func TestLoopThatUserCodeEndsLeavesTheLoaderWhole(t *testing.T) {
	broken := true
	end := func() {
		if broken {
			runtime.Goexit()
		}
	}
	for name, options := range map[string][]loader.Option{
		"order":    {loader.Sampler(ending{0, end})},
		"place":    nil,
		"begun":    {loader.Observe(loader.Trace{BatchBegun: func(loader.BatchInfo) { end() }})},
		"ready":    {loader.Observe(loader.Trace{BatchReady: func(loader.BatchInfo, time.Duration) { end() }})},
		"done":     {loader.Observe(loader.Trace{SampleDone: func(loader.SampleInfo) { end() }})},
		"ended":    {loader.Observe(loader.Trace{BatchEnded: func(loader.BatchInfo, time.Duration) { end() }})},
		"freed":    {loader.Observe(loader.Trace{BatchFreed: func(loader.BatchInfo) { end() }})},
		"collated": {loader.Collate(dataset.BatchFunc(func(dst, src dataset.Columns) error { end(); return nil }))},
	} {
		ds := &fake{n: 8}
		if name == "place" {
			ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
				end()
				dataset.Set(dst, 0, int64(i))
				return nil
			}
		}
		l := loadertest.New(t, ds, append(options, loader.Workers(0), loader.BatchSize(4))...)
		broken = true
		inGoroutine(func() {
			var last error
			for _, last = range l.Epoch(t.Context(), 0) {
			}
			if last == nil && name != "freed" {
				t.Errorf("%s: the loop has ended without an error", name)
			}
		})
		broken = false
		if got := len(collect(t, l, 0, 1)); got != 2 {
			t.Errorf("%s: %d batches afterwards, want 2", name, got)
		}
	}
}

// A beginning is a sampler that panics or ends its goroutine in every epoch.
type beginning struct{ end func() }

func (b beginning) Epoch(int) sampler.Order { b.end(); return sampler.Sequential(8).Epoch(0) }

func TestGoexitInTheSamplersEpochEndsTheLoop(t *testing.T) {
	for _, workers := range []int{0, 2} {
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(workers), loader.Sampler(beginning{runtime.Goexit}))
		if got, want := outcome(t, l), []string{"error: loader: epoch 0: runtime.Goexit was called"}; !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
	}
}

// A shy dataset panics after a number of calls of Len.
type shy struct {
	*fake
	patience *atomic.Int32
}

func (s shy) Len() int {
	if s.patience.Add(-1) == 0 {
		panic("broken")
	}
	return s.fake.Len()
}

func TestPanicInLenLeavesTheLoaderWhole(t *testing.T) {
	patience := new(atomic.Int32)
	l := loadertest.New(t, shy{&fake{n: 4}, patience}, loader.Workers(2))
	for patient := range int32(5) {
		patience.Store(patient)
		func() {
			defer func() { recover() }()
			for range l.Epoch(t.Context(), 0) {
			}
		}()
		patience.Store(0)
		if got := len(collect(t, l, 0, 1)); got != 4 {
			t.Errorf("%d batches afterwards, want 4", got)
		}
	}
}

func TestPanicInBatchDeliveredLosesNoSlab(t *testing.T) {
	memory := new(checked)
	broken := true
	l, err := loader.New(&fake{n: 8}, loader.Workers(2), loader.InFlight(2), loader.BatchSize(2), loader.Timeout(10*time.Second), loader.Memory(memory),
		loader.Observe(loader.Trace{BatchDelivered: func(loader.BatchInfo, time.Duration) {
			if broken {
				panic("broken")
			}
		}}))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			for range l.Epoch(t.Context(), 0) {
			}
		}()
	}
	broken = false
	if got := len(collect(t, l, 0, 1)); got != 4 {
		t.Errorf("%d batches afterwards, want 4", got)
	}
	if err := l.Close(); err != nil || len(memory.out) != 0 {
		t.Errorf("Close: %v, %d slabs are not freed", err, len(memory.out))
	}
}
