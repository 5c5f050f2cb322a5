package loader_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// deaf is a fake whose sample stuck takes until hang is closed. It does not watch its
// context.
func deaf(n, stuck int, hang <-chan struct{}) *fake {
	return &fake{n: n, place: func(_ context.Context, i int, dst dataset.Slot) error {
		if i == stuck {
			dst.Stage(dataset.StageRead)
			<-hang
		}
		time.Sleep(time.Millisecond)
		dataset.Set(dst, 0, int64(i))
		return nil
	}}
}

// TestTimeoutEndsTheLoop: a Reader hangs and ignores its context. The loop ends, a later one
// names the sample, too, and Close reports the call. When the Reader returns, everything is freed.
func TestTimeoutEndsTheLoop(t *testing.T) {
	for _, help := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			hang := make(chan struct{})
			memory, open := new(checked), new(atomic.Int32)
			ds := deaf(24, 5, hang)
			ds.open = func() error { open.Add(1); return nil }
			ds.close = func() error { open.Add(-1); return nil }
			l, err := loader.New(ds, loader.Workers(3), loader.BatchSize(2), loader.Help(help), loader.Timeout(time.Minute), loader.Memory(memory))
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			var last error
			batches := 0
			for _, err := range l.Epoch(t.Context(), 0) {
				if last = err; err == nil {
					batches++
				}
			}
			took := time.Since(begun)
			var e *loader.TimeoutError
			if !errors.As(last, &e) || batches != 2 || took > time.Minute+10*time.Millisecond {
				t.Fatalf("after %d batches and %v: %v", batches, took, last)
			}
			one := func(err error) bool { // is stuck
				return strings.Count(err.Error(), "sample 5 (sample-5) for ") == 1 && strings.HasSuffix(err.Error(), "in stage read") && strings.Count(err.Error(), "worker ") == 1
			}
			if !one(last) {
				t.Errorf("got %v", last)
			}

			// No other loop begins before the call has returned.
			last = nil
			for _, err := range l.Epoch(t.Context(), 1) {
				last = err
			}
			if !errors.As(last, &e) || !one(last) {
				t.Errorf("the next loop gave %v", last)
			}
			if s := l.Stats(); s.Batches != 2 || s.Slabs != 7 {
				t.Errorf("%d batches, %d slabs", s.Batches, s.Slabs)
			}

			begun = time.Now()
			err = l.Close()
			if !errors.As(err, &e) || time.Since(begun) != time.Minute || !one(err) {
				t.Errorf("Close gave %v after %v", err, time.Since(begun))
			}
			if len(memory.out) != 1 || open.Load() != 1 {
				t.Errorf("%d slabs and %d readers are left, want those of the stuck worker", len(memory.out), open.Load())
			}
			close(hang)
			synctest.Wait()
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if len(memory.out) != 0 || open.Load() != 0 {
				t.Errorf("%d slabs and %d readers are left in the end", len(memory.out), open.Load())
			}
		})
	}
}

// TestSlabOfAStuckWorkerComesBack: once the call returns, the loader has all its
// slabs again, and Close reports nothing.
func TestSlabOfAStuckWorkerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		l := loadertest.New(t, deaf(8, 0, hang), loader.Workers(2), loader.BatchSize(2), loader.InFlight(1), loader.Timeout(time.Second))
		for range 2 {
			var last error
			for _, err := range l.Epoch(t.Context(), 0) {
				last = err
			}
			if !errors.Is(last, os.ErrDeadlineExceeded) || !strings.Contains(last.Error(), "sample 0 (sample-0)") {
				t.Errorf("got %v, want that sample 0 hangs", last)
			}
		}
		time.Sleep(time.Second)
		close(hang)
		time.Sleep(time.Second)
		if got := len(collect(t, l, 0, 1)); got != 4 {
			t.Errorf("%d batches, want 4", got)
		}
		if got := l.Stats().Busy; got < 2*time.Second {
			t.Errorf("busy %v, without what the stuck worker did", got)
		}
	})
}

// TestEveryEndOfALoopLeavesStuckWorkersBehind holds for a break and a cancelled
// context too, and for any number of workers that hang in one batch.
func TestEveryEndOfALoopLeavesStuckWorkersBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stuck := range []int{1, 3} {
			hang := make(chan struct{})
			memory := new(checked)
			ds := &fake{n: 80, place: func(_ context.Context, i int, dst dataset.Slot) error {
				if i >= 8 && i < 8+stuck {
					<-hang
				}
				return nil
			}}
			l, err := loader.New(ds, loader.Workers(4), loader.BatchSize(8), loader.Timeout(time.Second), loader.Memory(memory))
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			for range l.Epoch(t.Context(), 0) {
				time.Sleep(100 * time.Millisecond)
				break
			}
			if took := time.Since(begun); took != time.Second {
				t.Errorf("the loop ended after %v, want the second that the calls may last", took)
			}
			close(hang)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if len(memory.out) != 0 {
				t.Errorf("%d slabs are left", len(memory.out))
			}
		}
	})
}

func TestSlowSamplesAreNotStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := new(atomic.Int32)
		ds := &fake{n: 40, place: func(_ context.Context, i int, dst dataset.Slot) error {
			time.Sleep(800 * time.Millisecond)
			return nil
		}}
		ds.open = func() error { opened.Add(1); return nil }
		l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(4), loader.Timeout(time.Second))
		begun := time.Now()
		for range l.Epoch(t.Context(), 0) { // times out, though no sample does
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("the loop ended after %v", took)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		if opened.Load() != 2 {
			t.Errorf("%d readers were opened, want no worker replaced", opened.Load())
		}
	})
}

func TestTimeoutTellsOfOpenCloseAndHooks(t *testing.T) {
	for want, stick := range map[string]func(f *fake, hang func()) loader.Option{
		"worker 0: opening the dataset for 1s": func(f *fake, hang func()) loader.Option {
			f.open = func() error { hang(); return nil }
			return loader.Option{}
		},
		"worker 0: closing its Reader for 1s": func(f *fake, hang func()) loader.Option {
			f.place = func(context.Context, int, dataset.Slot) error { panic("broken") } // so the Reader is closed
			f.close = func() error { hang(); return nil }
			return loader.Option{}
		},
		"worker 0: drawing a batch for 1s": func(_ *fake, hang func()) loader.Option {
			return loader.Sampler(ending{0, hang})
		},
		"worker 0: finishing a batch for 1s": func(_ *fake, hang func()) loader.Option {
			return loader.Observe(loader.Trace{BatchReady: func(loader.BatchInfo, time.Duration) { hang() }})
		},
		"worker 0: reporting a failure for 1s": func(f *fake, hang func()) loader.Option {
			f.place = func(context.Context, int, dataset.Slot) error { return errBad }
			return loader.Observe(loader.Trace{SampleFailed: func(*loader.SampleError) { hang() }})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := new(checked)
			hang := make(chan struct{})
			ds := &fake{n: 8}
			option := stick(ds, func() { <-hang })
			l, err := loader.New(ds, option, loader.Workers(1), loader.Timeout(time.Second), loader.Memory(memory))
			if err != nil {
				t.Fatal(err)
			}
			var last error
			begun := time.Now()
			for _, err := range l.Epoch(t.Context(), 0) {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), want) {
				t.Errorf("got %v, want %s", last, want)
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("the loop ended after %v", took)
			}
			close(hang)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if len(memory.out) != 0 {
				t.Errorf("%s: %d slabs are left", want, len(memory.out))
			}
		})
	}
}
