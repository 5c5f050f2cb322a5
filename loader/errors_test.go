package loader_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// outcome is what a loop gets: the samples of its batches, and errors in their places.
func outcome(t *testing.T, l *loader.Loader) (seen []string) {
	t.Helper()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			seen = append(seen, "error: "+strings.SplitN(err.Error(), "\n", 2)[0])
			continue
		}
		seen = append(seen, fmt.Sprint(b.Indices(), loader.Values[int64](b, "x")))
	}
	return seen
}

func TestErrorFollowsEarlierBatches(t *testing.T) {
	ds := failing(20, func(i int) bool { return i == 9 || i == 10 || i == 13 })
	for _, workers := range []int{0, 1, 5} {
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(4))
		got := outcome(t, l)
		want := []string{
			"[0 1 2 3] [0 1 2 3]",
			"[4 5 6 7] [4 5 6 7]",
			"error: loader: sample 9 (sample-9), epoch 0, batch 2: bad sample",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
	}
}

// As in a loop for batch := range, which does not look at the error.
func TestABatchInPlaceOfAnErrorSaysSo(t *testing.T) {
	l := loadertest.New(t, failing(4, func(int) bool { return true }))
	for batch := range l.Epoch(t.Context(), 0) {
		for name, use := range map[string]func(){
			"Tensor": func() { batch.Tensor("x") },
			"Values": func() { loader.Values[float32](batch, "x") },
			"Keep":   func() { batch.Keep() },
		} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, "the loop ended with an error") {
						t.Errorf("%s: panic %v", name, got)
					}
				}()
				use()
			}()
		}
	}
}

func TestSampleErrorSaysWhichSample(t *testing.T) {
	l := loadertest.New(t, failing(8, func(i int) bool { return i == 6 }), loader.Workers(2), loader.BatchSize(2))
	for _, err := range l.Epoch(t.Context(), 0) {
		if err == nil {
			continue
		}
		var e *loader.SampleError
		if !errors.As(err, &e) || e.Index != 6 || e.Name != "sample-6" || e.Batch != 3 || e.Epoch != 0 {
			t.Errorf("got %#v", err)
		}
		if !errors.Is(err, errBad) {
			t.Errorf("%v does not wrap the dataset's error", err)
		}
		return
	}
	t.Error("no error")
}

func TestPathIsInAnErrorOnce(t *testing.T) {
	ds := &fake{n: 2, place: func(_ context.Context, i int, dst dataset.Slot) error {
		_, err := fs.ReadFile(fstest.MapFS{}, fmt.Sprintf("sample-%d", i))
		return err
	}}
	got := outcome(t, loadertest.New(t, ds, loader.Workers(1)))
	if want := []string{"error: loader: sample 0, epoch 0, batch 0: open sample-0: file does not exist"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPanicIsAnErrorWithItsStack(t *testing.T) {
	opened := new(atomic.Int32)
	ds := failing(12, func(i int) bool {
		if i == 5 {
			panic(fmt.Errorf("boom: %w", errBad))
		}
		return false
	})
	ds.open = func() error { opened.Add(1); return nil }
	l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(3), loader.Skip(loader.NoLimit))
	if got := outcome(t, l); len(got) != 4 || got[1] != "[3 4] [3 4]" {
		t.Errorf("got %q", got)
	}
	var e *dataset.PanicError
	if err := l.Stats().Failures[0]; !errors.As(err, &e) || !strings.Contains(string(e.Stack), "TestPanicIsAnErrorWithItsStack") || !errors.Is(err, errBad) {
		t.Errorf("got %v", err)
	}
	if opened.Load() != 2 {
		t.Errorf("readers opened: %d, want another one after the panic", opened.Load())
	}
}

func TestIndexOutOfRangeFromASampler(t *testing.T) {
	l := loadertest.New(t, &fake{n: 4}, loader.Workers(2), loader.BatchSize(3), loader.Sampler(fixedOrder{0, 1, 4, 2, -1, 3}), loader.Skip(loader.NoLimit))
	got := outcome(t, l)
	if want := []string{"[0 1] [0 1]", "[2 3] [2 3]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := l.Stats().Failures[0]; !strings.Contains(err.Error(), "the sampler drew sample 4 of a dataset of 4") {
		t.Errorf("got %v", err)
	}
}

// A fixedOrder is a sampler with the same order in every epoch. It panics at 99.
type fixedOrder []int

func (o fixedOrder) Epoch(int) sampler.Order { return o }

func (o fixedOrder) Len() int { return len(o) }

func (o fixedOrder) At(k int) int {
	if o[k] == 99 {
		panic("sampler is broken")
	}
	return o[k]
}

func TestPanicInASamplerFollowsEarlierBatches(t *testing.T) {
	for _, workers := range []int{0, 3} {
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(workers), loader.BatchSize(2), loader.Sampler(fixedOrder{0, 1, 2, 3, 4, 99, 5, 6}))
		got := outcome(t, l)
		want := []string{"[0 1] [0 1]", "[2 3] [2 3]", "error: loader: epoch 0, batch 2: panic: sampler is broken"}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
	}
}
