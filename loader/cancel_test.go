package loader_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

func TestCancelIsPromptWithinOneSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// These samples do not watch their context.
		ds := &fake{n: 100, place: func(_ context.Context, i int, dst dataset.Slot) error {
			time.Sleep(time.Second)
			return nil
		}}
		l := loadertest.New(t, ds, loader.Workers(3), loader.BatchSize(50))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		begun := time.Now()
		for _, err := range l.Epoch(ctx, 0) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if waited := time.Since(begun); waited != 2500*time.Millisecond {
				t.Errorf("the error came after %v", waited)
			}
		}
		if waited := time.Since(begun); waited > 3*time.Second {
			t.Errorf("the loop ended after %v, want the sample's end at 3s", waited)
		}
	})
}

// A patient gatherer watches its context when it places a batch, but not when it
// places a sample.
type patient struct{ *gatherer }

func (p patient) Open() (dataset.Reader, error) { return patientReader{fakeReader{p.fake}}, nil }

type patientReader struct{ fakeReader }

func (r patientReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	for k, i := range indices {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestCancelDoesNotPlaceABatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := patient{&gatherer{fake: &fake{n: 100, place: func(_ context.Context, i int, dst dataset.Slot) error {
			time.Sleep(time.Second)
			return nil
		}}}}
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(50))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		begun := time.Now()
		for range l.Epoch(ctx, 0) {
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the loop ended after %v, want the sample's end at 3s", took)
		}
	})
}

// An emptyUntil is a sampler of empty epochs that ends a loop in one of them.
type emptyUntil struct {
	epoch int
	end   func()
}

func (s emptyUntil) Epoch(epoch int) sampler.Order {
	if epoch == s.epoch {
		s.end()
	}
	return sampler.Sequential(0).Epoch(epoch)
}

func TestCancelAmongEmptyEpochsIsAnError(t *testing.T) {
	for _, workers := range []int{0, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		l := loadertest.New(t, &fake{n: 4}, loader.Workers(workers), loader.Sampler(emptyUntil{7, cancel}))
		var last error
		for _, err := range l.Epochs(ctx, 0, math.MaxInt) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%d workers: got %v", workers, last)
		}
	}
}
