package shards

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/encoding"
)

// A Field says how a field of the samples is made of a column. [Bytes], [Scalar],
// [Array] and [Ragged] make one.
//
// Several columns are alternatives: each sample has one of them, and the first that it
// has is taken. In a tar file the columns are the extensions of names: see [WebDataset].
type Field struct {
	spec    dataset.Field
	columns []string
}

// Bytes makes a ragged uint8 field: a file, such as an encoded image for
// transform.Images, a text, or JSON.
func Bytes(field string, columns ...string) Field {
	return newField[uint8](field, nil, true, columns)
}

// Scalar makes a field of one number or bool. A column of bytes is read as text in
// decimal, as in the .cls of WebDataset, or as a file of numpy.save with one element.
//
// An integer may have another type in the shards, and a float64 may be a float32 there.
// A value that T cannot hold is an error.
func Scalar[T dataset.Element](field string, columns ...string) Field {
	return newField[T](field, nil, false, columns)
}

// Array makes a field of numbers of that shape. In a column of bytes they are a file of
// numpy.save, or nothing but the elements, little-endian. Integers of another type are
// converted as [Scalar] does.
//
// The columns' arrays must have the shape. Of a list only the length is compared.
func Array[T dataset.Element](field string, shape []int, columns ...string) Field {
	return newField[T](field, shape, false, columns)
}

// Ragged makes a field of a varying number of elements of that shape, which is nil for
// plain numbers, such as tokens. The columns are as in [Array]; the first dimension of an
// array is the number of elements.
func Ragged[T dataset.Element](field string, shape []int, columns ...string) Field {
	return newField[T](field, shape, true, columns)
}

func newField[T dataset.Element](field string, shape []int, ragged bool, columns []string) Field {
	f := Field{columns: slices.Clone(columns)}
	f.spec = dataset.Field{Name: field, Dtype: dataset.DtypeOf[T](), Ragged: ragged}
	if len(shape) > 0 {
		f.spec.Shape = dataset.Shape(slices.Clone(shape))
	}
	return f
}

func (f *Field) check() error {
	if len(f.columns) == 0 {
		return fmt.Errorf("shards: field %q: no columns", f.spec.Name)
	}
	return nil
}

// names are the columns, for errors.
func (f *Field) names() string { return strings.Join(f.columns, " or ") }

// place writes a value into the field's cell.
func (f *Field) place(v *shardfmt.Value, cell dataset.Cell, arrays *arrayParser) error {
	isBytes := v.Dtype == dataset.Uint8 && len(v.Shape) == 1 && v.Shape[0] < 0
	switch {
	case isBytes && f.spec.Dtype == dataset.Uint8 && f.spec.Ragged && f.spec.Shape == nil:
		copy(cell.Grow(len(v.Data)), v.Data)
		return nil
	case isBytes && isNumPy(v.Data):
		a, err := arrays.parse(v.Data)
		if err != nil {
			return err
		}
		return f.placeArray(a, cell, arrays)
	case isBytes && f.spec.Shape == nil && !f.spec.Ragged:
		return setText(cell.Bytes(), f.spec.Dtype, v.Data)
	}
	a := array{encoding.Of(v.Dtype, false), v.Shape, v.Data, false}
	if isBytes {
		a.encoding, a.shape = encoding.Of(f.spec.Dtype, false), oneDimension
	}
	return f.placeArray(a, cell, arrays)
}

// placeArray writes an array into the field's cell.
func (f *Field) placeArray(a array, cell dataset.Cell, arrays *arrayParser) error {
	n, err := a.count()
	if err != nil {
		return err
	}
	want, list := []int(f.spec.Shape), len(a.shape) == 1 && a.shape[0] < 0
	if f.spec.Ragged {
		per := f.spec.Elements()
		if n%per != 0 || !list && (len(a.shape) == 0 || !slices.Equal(a.shape[1:], want)) {
			return fmt.Errorf("%s, want n × %v", a.describe(n), want)
		}
		if err := convertible(a.encoding.Dtype, f.spec.Dtype); err != nil {
			return err
		}
		return arrays.store(cell.Grow(n/per*f.spec.Bytes()), f.spec.Dtype, a)
	}
	one := len(want) == 0 && n == 1
	if n != f.spec.Elements() || !list && !one && !slices.Equal(a.shape, want) {
		return fmt.Errorf("%s, want %v", a.describe(n), want)
	}
	if err := convertible(a.encoding.Dtype, f.spec.Dtype); err != nil {
		return err
	}
	return arrays.store(cell.Bytes(), f.spec.Dtype, a)
}

// bytesValue is the value of a file or text.
func bytesValue(data []byte) shardfmt.Value {
	return shardfmt.Value{Dtype: dataset.Uint8, Shape: oneDimension, Data: data}
}

// oneDimension is the shape of values whose length says how many elements there are.
var oneDimension = []int{-1}
