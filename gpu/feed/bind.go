package feed

import (
	"errors"
	"fmt"
	"reflect"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/tensors"
)

// bind gives the inputs their values: the batch's own memory, or a padded copy if the
// batch is short.
func (f *Feed) bind(b *loader.Batch) error {
	if b.Len() < f.rows && f.short != pad {
		return fmt.Errorf("%d samples for %d rows: %w", b.Len(), f.rows, ErrShort)
	}
	for _, in := range f.inputs {
		t, err := field(b, in.field)
		if err == nil && b.Len() < f.rows {
			t, err = in.padded(t, b.Len())
		}
		if err == nil {
			err = gorgonia.Let(in.node, t)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", in.field, err)
		}
	}
	return f.weigh(b.Len())
}

// padded returns a copy of t, with zero rows added up to the node's shape.
func (in input) padded(t *tensor.Dense, rows int) (*tensor.Dense, error) {
	want := append(tensor.Shape{rows}, in.node.Shape()[1:]...)
	if !t.Shape().Eq(want) || t.Dtype() != in.node.Dtype() {
		return nil, fmt.Errorf("%v of shape %v, want %v of shape %v", t.Dtype(), t.Shape(), in.node.Dtype(), want)
	}
	in.own.Zero()
	reflect.Copy(reflect.ValueOf(in.own.Data()), reflect.ValueOf(t.Data()))
	return in.own, nil
}

// weigh sets the mask for a batch of so many rows.
func (f *Feed) weigh(rows int) error {
	if f.mask == nil {
		return nil
	}
	f.weights.Zero()
	switch w := f.weights.Data().(type) {
	case []float32:
		fill(w[:rows])
	case []float64:
		fill(w[:rows])
	}
	return gorgonia.Let(f.mask, f.weights)
}

func fill[T float32 | float64](w []T) {
	for i := range w {
		w[i] = 1
	}
}

// unbind takes the batch's memory from all inputs, because the loader may free it.
func (f *Feed) unbind() {
	for _, in := range f.inputs {
		in.own.Zero()
		gorgonia.Let(in.node, in.own) // cannot fail: own was made for the node
	}
}

// field returns a field of a batch. A ragged field is an error: the shape of its
// elements may fit the node by chance, but its rows are then not the samples.
func field(b *loader.Batch, name string) (*tensor.Dense, error) {
	for _, f := range b.Spec() {
		switch {
		case f.Name != name:
		case f.Ragged:
			return nil, errors.New("the field is ragged: want samples of equal shape")
		default:
			return tensors.Of(b, name), nil
		}
	}
	return nil, errors.New("the batch has no such field")
}
