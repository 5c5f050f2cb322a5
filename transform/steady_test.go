package transform_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// allocatesNothing reports an error if samples allocate in steady state. Memory first grows to
// what random draws need.
func allocatesNothing(t *testing.T, x *transform.Pipeline) {
	t.Helper()
	testenv.OneGoroutine(t)
	r, err := x.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(x.Spec()...)
	all := func() {
		for i := range x.Len() {
			if err := r.Place(t.Context(), i, slot); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		all()
	}
	if n := allocs.PerRun(0, 20, all); n > 0 {
		t.Errorf("%v allocations for %d samples", n, x.Len())
	}
}

// sameForAnyWorkers reports an error if the data of two shuffled epochs depends on the number of
// workers. Check sees every batch and may be nil.
func sameForAnyWorkers(t *testing.T, ds dataset.Dataset, check func(b *loader.Batch), options ...loader.Option) {
	t.Helper()
	read := func(workers int) [][]byte {
		return loaded(t, ds, check, slices.Concat(options, []loader.Option{loader.Workers(workers), loader.Shuffle(true)})...)
	}
	one := read(1)
	for _, workers := range []int{0, 3, 9} {
		if !slices.EqualFunc(read(workers), one, bytes.Equal) {
			t.Errorf("%d workers load other data than 1", workers)
		}
	}
}

// loaded is all fields of all batches of two epochs. Check sees every batch and may be nil.
func loaded(t *testing.T, ds dataset.Dataset, check func(b *loader.Batch), options ...loader.Option) (all [][]byte) {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Epochs(t.Context(), 0, 2) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Spec() {
			all = append(all, slices.Clone(b.Bytes(f.Name)))
		}
		if check != nil {
			check(b)
		}
	}
	return all
}
