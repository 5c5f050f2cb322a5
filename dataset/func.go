package dataset

import (
	"context"
	"fmt"
)

// Func makes a dataset of n samples that the function place writes. All workers
// share place, so many goroutines call it at once. It follows the rules of
// [Reader.Place] and only gets indices from 0 to n-1. If n is below 0 or spec
// is invalid, Open of the dataset returns an error. For state per worker,
// implement [Dataset] instead.
func Func(n int, spec Spec, place func(ctx context.Context, i int, dst Slot) error) Dataset {
	return &function{n, spec, place}
}

type function struct {
	n     int
	spec  Spec
	place func(ctx context.Context, i int, dst Slot) error
}

func (f *function) Len() int   { return max(f.n, 0) }
func (f *function) Spec() Spec { return f.spec }

func (f *function) Open() (Reader, error) {
	if f.n < 0 {
		return nil, fmt.Errorf("dataset: Func of %d samples: want 0 or more", f.n)
	}
	if err := f.spec.Validate(); err != nil {
		return nil, err
	}
	return functionReader{f}, nil
}

type functionReader struct{ *function }

func (r functionReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.n); err != nil {
		return err
	}
	return r.place(ctx, i, dst)
}

func (r functionReader) Close() error { return nil }
