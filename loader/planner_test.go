package loader_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// thinking is a sampler of eight samples that takes five seconds for some epochs.
type thinking struct{ epoch int }

func (s thinking) Epoch(epoch int) sampler.Order {
	if epoch == s.epoch {
		time.Sleep(5 * time.Second)
	}
	return fixedOrder{0, 1, 2, 3, 4, 5, 6, 7}
}

func TestPlanningDelaysNoReadyBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, slow(8, always(time.Millisecond)), loader.Workers(2), loader.BatchSize(1), loader.InFlight(20), loader.Sampler(thinking{1}))
		since := time.Now()
		for b, err := range l.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(since); b.Epoch() == 0 && waited > 2*time.Millisecond {
				t.Errorf("%v came after %v", b, waited)
			}
			time.Sleep(100 * time.Millisecond)
			if s := l.Stats(); b.Epoch() == 0 && s.Ready != 7-b.Number() {
				t.Errorf("at %v %d batches are ready, want %d", b, s.Ready, 7-b.Number())
			}
			since = time.Now()
		}
	})
}

func TestCancelDoesNotWaitForTheSampler(t *testing.T) {
	for _, epoch := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.Sampler(thinking{epoch}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			var last error
			for _, err := range l.Epochs(ctx, 0, 2) {
				last = err
			}
			if took := time.Since(begun); took != time.Second || !errors.Is(last, context.DeadlineExceeded) {
				t.Errorf("epoch %d: the loop ended after %v with %v, want the cancel after 1s", epoch, took, last)
			}
			// Another loop need not wait for the first one's sampler either.
			if got := len(collect(t, l, 2, 3)); got != 8 {
				t.Errorf("%d batches afterwards, want 8", got)
			}
			if err := l.Close(); err != nil || time.Since(begun) != 5*time.Second {
				t.Errorf("Close: %v after %v, want nil once the sampler has returned", err, time.Since(begun))
			}
		})
	}
}

func TestTimeoutTellsOfTheSampler(t *testing.T) {
	for epoch, want := range []string{"loader: epoch 0, batch 0: not ready after 1s; planning epoch 0 for 1s", "loader: epoch 1, batch 0: not ready after 1s; planning epoch 1 for 1s"} {
		synctest.Test(t, func(t *testing.T) {
			l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.Sampler(thinking{epoch}), loader.Timeout(time.Second))
			begun := time.Now()
			var last error
			for _, err := range l.Epochs(t.Context(), 0, 2) {
				last = err
			}
			if took := time.Since(begun); took != time.Second || last == nil || last.Error() != want {
				t.Errorf("after %v: got %v, want %s", took, last, want)
			}
			time.Sleep(5 * time.Second) // Close need not wait
		})
	}
}

func TestEpochsWithoutSamplesCanBeCancelled(t *testing.T) {
	for _, workers := range []int{0, 2} {
		l := loadertest.New(t, &fake{n: 0}, loader.Workers(workers))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for l.Stats().Batches == 0 && ctx.Err() == nil { // which needs the loader's lock
				runtime.Gosched()
				cancel()
			}
		}()
		var last error
		for _, err := range l.Epochs(ctx, 0, math.MaxInt) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%d workers: got %v", workers, last)
		}
	}
}

// A moody sampler gives orders whose length changes while they are used.
type moody struct{ n *int }

func (m moody) Epoch(int) sampler.Order { return m }
func (m moody) Len() int                { return *m.n }
func (m moody) At(k int) int            { return k }

func TestOrderThatChangesIsTheSamplersFault(t *testing.T) {
	for _, n := range []int{4, 12} {
		m := moody{new(8)}
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(0), loader.BatchSize(2), loader.Sampler(m))
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			last, *m.n = err, n
		}
		if want := "loader: epoch 0, batch 1: the sampler's order had 8 samples when the epoch was planned and has "; last == nil || !strings.HasPrefix(last.Error(), want) {
			t.Errorf("got %v, want %s%d now", last, want, n)
		}
	}
}
