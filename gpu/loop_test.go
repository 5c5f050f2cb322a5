//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

func TestErrorsFollowEarlierBatches(t *testing.T) {
	bad := errors.New("bad sample")
	ds := dataset.Func(40, numbers(1).Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 21 {
			return bad
		}
		clear(dst.Cell(0).Bytes())
		return nil
	})
	d := open(t)
	s := staged(t, d, pinned(t, d), ds, 2, loader.BatchSize(4))
	batches, failures := 0, 0
	for _, err := range s.Epoch(t.Context(), 0) {
		if err == nil {
			batches++
			continue
		}
		failures++
		var sample *loader.SampleError
		if !errors.Is(err, bad) || !errors.As(err, &sample) || sample.Index != 21 {
			t.Errorf("got %v", err)
		}
	}
	if batches != 5 || failures != 1 {
		t.Errorf("%d batches and %d errors, want 5 and 1", batches, failures)
	}
}

// TestLoopsGoOnAfterBatchesThatAreSkipped: every batch of an odd number is empty.
func TestLoopsGoOnAfterBatchesThatAreSkipped(t *testing.T) {
	ds := dataset.Func(80, numbers(1).Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		if i/2%2 == 1 {
			return errors.New("bad sample")
		}
		row := dataset.Row[int64](dst, 0)
		for k := range row {
			row[k] = int64(i)
		}
		return nil
	})
	d := open(t)
	s := staged(t, d, pinned(t, d), ds, 2, loader.BatchSize(2), loader.Skip(loader.NoLimit))
	next := 0
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() != next {
			t.Fatalf("batch %d in place of %d", b.Number(), next)
		}
		check(t, b)
		next += 2
	}
	if next != 40 {
		t.Errorf("the loop ended before batch %d, want 40", next)
	}
}

func TestCancelledContextEndsTheLoopWithItsError(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(400), 2, loader.BatchSize(4))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for b, err := range s.Epochs(ctx, 0, 1000) {
		if last = err; err == nil && b.Number() == 3 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
}

// TestACancelIsOneErrorAtTheEnd: the loader reports the cancel too, perhaps while it skips
// batches.
func TestACancelIsOneErrorAtTheEnd(t *testing.T) {
	d := open(t)
	ds := dataset.Func(1<<20, numbers(1).Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		if i >= 200 {
			return errors.New("bad sample")
		}
		clear(dst.Cell(0).Bytes())
		return nil
	})
	s := staged(t, d, pinned(t, d), ds, 2, loader.BatchSize(4), loader.Workers(2), loader.Skip(loader.NoLimit))
	for round := range 600 {
		ctx, cancel := context.WithCancel(t.Context())
		at, elsewhere := round/2%50, round%2 == 1 // the batches from 50 on are skipped
		var last error
		came, canceled := 0, 0
		for _, err := range s.Epoch(ctx, 0) {
			if last = err; errors.Is(err, context.Canceled) {
				canceled++
			}
			if came++; came == at+1 && elsewhere {
				go cancel()
			} else if came == at+1 {
				cancel()
			}
		}
		cancel()
		if canceled != 1 || !errors.Is(last, context.Canceled) || !elsewhere && came != at+2 {
			t.Fatalf("canceled in the place of batch %d (from another goroutine: %v): %d batches and errors, %d of them the cancel's, the last was %v",
				at, elsewhere, came, canceled, last)
		}
	}
}

func TestBreakEndsALoaderThatIsStuck(t *testing.T) {
	d := open(t)
	ds := dataset.Func(8, numbers(1).Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
		if i > 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		clear(dst.Cell(0).Bytes())
		return nil
	})
	s := staged(t, d, pinned(t, d), ds, 2)
	for _, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Error(err)
		}
		break
	}
}

func TestOneLoopAtATime(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2)
	for _, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Epoch(t.Context(), 0) {
			if err == nil || !strings.Contains(err.Error(), "another loop runs over it") {
				t.Errorf("got %v", err)
			}
		}
		if s.Close() == nil {
			t.Error("the stage closed while its loop ran")
		}
		break
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, err := range s.Epoch(t.Context(), 0) {
		if !errors.Is(err, gpu.ErrClosed) || err.Error() != "gpu: stage: closed" {
			t.Errorf("got %v, want gpu: stage: closed", err)
		}
	}
}

func TestAPanicInTheBodyLeaksNothing(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(80), 2)
	func() {
		defer func() {
			if p := recover(); p != "body" {
				t.Errorf("got %v", p)
			}
		}()
		for range s.Epoch(t.Context(), 0) {
			panic("body")
		}
	}()
}

func TestStaleBatchesAndUnknownFieldsPanic(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2)
	panics := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", what)
			}
		}()
		f()
	}
	var stale *gpu.Batch
	for b := range s.Epoch(t.Context(), 0) {
		stale = b
		panics("an unknown field", func() { b.Column("y") })
	}
	panics("a column after the body", func() { stale.Column("x") })
	panics("UsedBy after the body", func() { stale.UsedBy(0) })
}
