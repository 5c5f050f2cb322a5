package dataset

import (
	"context"
	"fmt"
)

// Func makes a dataset of n samples that the function place writes. All workers
// share place, so many goroutines call it at once. It follows the rules of
// [Reader.Place] and only gets indices from 0 to n-1. Func panics if n is below 0 or
// place is nil. If spec is invalid, such as one without fields, loaders cannot be made and
// Open of the dataset returns an error. For state per worker, implement [Dataset] instead.
func Func(n int, spec Spec, place func(ctx context.Context, i int, dst Slot) error) Dataset {
	if n < 0 {
		panic(fmt.Sprintf("dataset: Func: n is %d: want 0 or more", n))
	}
	if place == nil {
		panic("dataset: Func: place is nil: want a function")
	}
	return &function{n, spec, place}
}

type function struct {
	n     int
	spec  Spec
	place func(ctx context.Context, i int, dst Slot) error
}

func (f *function) Len() int   { return f.n }
func (f *function) Spec() Spec { return f.spec }

func (f *function) Open() (Reader, error) {
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
