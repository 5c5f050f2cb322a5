package loader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A fake is a dataset of n samples with one int64 field "x" that holds the
// index, unless place says otherwise.
type fake struct {
	n     int
	spec  dataset.Spec
	place func(ctx context.Context, i int, dst dataset.Slot) error
	open  func() error
	close func() error
}

func (f *fake) Len() int { return f.n }

func (f *fake) Spec() dataset.Spec {
	if f.spec != nil {
		return f.spec
	}
	return dataset.Spec{{Name: "x", Dtype: dataset.Int64}}
}

func (f *fake) Name(i int) string { return fmt.Sprintf("sample-%d", i) }

func (f *fake) Open() (dataset.Reader, error) {
	if f.open != nil {
		if err := f.open(); err != nil {
			return nil, err
		}
	}
	return fakeReader{f}, nil
}

type fakeReader struct{ *fake }

func (r fakeReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if r.place != nil {
		return r.place(ctx, i, dst)
	}
	dataset.Set(dst, 0, int64(i))
	return nil
}

func (r fakeReader) Close() error {
	if r.close != nil {
		return r.close()
	}
	return nil
}

// failing is a fake that cannot place the samples for which bad is true.
func failing(n int, bad func(i int) bool) *fake {
	return &fake{n: n, place: func(_ context.Context, i int, dst dataset.Slot) error {
		if bad(i) {
			return errBad
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	}}
}

var errBad = errors.New("bad sample")

// collect is the field x of all batches from a position on, batch by batch.
func collect(t testing.TB, l *loader.Loader, from, to int) [][]int64 {
	t.Helper()
	var batches [][]int64
	for b, err := range l.Epochs(t.Context(), from, to) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, append([]int64(nil), loader.Values[int64](b, "x")...))
	}
	return batches
}
