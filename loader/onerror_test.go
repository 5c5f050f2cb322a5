package loader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestSkipShortensTheBatch(t *testing.T) {
	for _, workers := range []int{0, 1, 5} {
		ds := failing(13, func(i int) bool { return i%4 == 1 || i == 12 })
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(4), loader.Skip(loader.NoLimit))
		got := outcome(t, l)
		want := []string{
			"[0 2 3] [0 2 3]",
			"[4 6 7] [4 6 7]",
			"[8 10 11] [8 10 11]",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
		s := l.Stats()
		if s.Dropped != 4 || len(s.Failures) != 4 || s.Failures[1].Index != 5 {
			t.Errorf("dropped %d: %v", s.Dropped, s.Failures)
		}
		if s.Batches != 3 || s.Emptied != 1 {
			t.Errorf("%d batches, %d emptied, want 3 and 1", s.Batches, s.Emptied)
		}
	}
}

// TestEmptiedBatchesAreLeftOut loses all of batches 0, 3, 4 and 9.
func TestEmptiedBatchesAreLeftOut(t *testing.T) {
	ds := failing(40, func(i int) bool { return slices.Contains([]int{0, 3, 4, 9}, i/4) })
	for _, workers := range []int{0, 1, 5} {
		for _, unordered := range []bool{false, true} {
			options := []loader.Option{loader.Workers(workers), loader.BatchSize(4), loader.Skip(loader.NoLimit), loader.Unordered(unordered)}
			l := loadertest.New(t, ds, options...)
			var positions []loader.Position
			var got []int
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				got, positions = append(got, b.Number()), append(positions, b.Position())
			}
			if s := l.Stats(); s.Batches != 6 || s.Emptied != 4 || s.Dropped != 16 {
				t.Errorf("%d workers: %d batches, %d emptied, %d samples dropped, want 6, 4 and 16", workers, s.Batches, s.Emptied, s.Dropped)
			}
			for k, p := range positions {
				resumed := slices.Clone(got[:k+1])
				for b, err := range l.From(t.Context(), p, 1) {
					if err != nil {
						t.Fatal(err)
					}
					resumed = append(resumed, b.Number())
				}
				slices.Sort(resumed)
				if want := []int{1, 2, 5, 6, 7, 8}; !slices.Equal(resumed, want) {
					t.Errorf("%d workers, unordered %v, interrupted at %+v: batches %v, want %v", workers, unordered, p, resumed, want)
				}
			}
		}
	}
}

// TestErrorsThatMayPassEndTheLoop fails in sample 13, and for good in others, which are
// before it and in its batch too.
func TestErrorsThatMayPassEndTheLoop(t *testing.T) {
	for _, workers := range []int{0, 1, 5} {
		ds := failing(40, func(int) bool { return false })
		place := ds.place
		ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
			switch {
			case i == 13:
				return fmt.Errorf("read: %w", context.DeadlineExceeded)
			case i%4 == 0:
				return errBad
			}
			return place(ctx, i, dst)
		}
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(4), loader.Skip(loader.NoLimit))
		var last error
		batches := 0
		for _, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				batches++
			}
		}
		var e *loader.SampleError
		if !errors.As(last, &e) || e.Index != 13 || !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("%d workers: got %v, want the error of sample 13", workers, last)
		}
		if batches != 3 {
			t.Errorf("%d workers: %d batches before the error, want 3", workers, batches)
		}
	}
}

func TestLimitEndsTheLoop(t *testing.T) {
	ds := failing(40, func(i int) bool { return i%4 == 1 })
	l := loadertest.New(t, ds, loader.Workers(3), loader.BatchSize(4), loader.Skip(2))
	var last error
	batches := 0
	for _, err := range l.Epoch(t.Context(), 0) {
		if last = err; err == nil {
			batches++
		}
	}
	if last == nil || !strings.HasSuffix(last.Error(), " samples failed, Skip allows 2; the last: "+errors.Unwrap(last).Error()) || !errors.Is(last, errBad) {
		t.Errorf("got %v", last)
	}
	if batches != 2 {
		t.Errorf("%d batches before the limit, want 2", batches)
	}
}
