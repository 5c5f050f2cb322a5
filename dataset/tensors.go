package dataset

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"
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

// NamedValues are one field of all samples, in memory. [Named] makes them.
type NamedValues struct {
	name   string
	values any
}

// Named names values, whose first dimension is the number of samples. They are
//
//   - a [Tensor] of shape (n, …),
//   - a slice []T, a value per sample, or []([k]T), an array per sample,
//   - a slice of slices [][]T, all of one length, a row per sample,
//
// where T is a type of [Element], or a type whose underlying type is one.
func Named(name string, values any) NamedValues { return NamedValues{name, values} }

// Tensors makes a dataset of fields in memory, as PyTorch's TensorDataset does.
// All fields have the same number of samples.
//
// The values are not copied, so they must not change while the dataset is used.
// gorgonia's tensors become a [Tensor] with tensors.FromDense of package loader/tensors.
func Tensors(fields ...NamedValues) (Dataset, error) {
	t := new(tensors)
	if len(fields) == 0 {
		return nil, errors.New("dataset: Tensors: no fields")
	}
	var errs []error
	for i, v := range fields {
		r, err := rowsOf(v.values)
		if err != nil {
			errs = append(errs, fmt.Errorf("dataset: Tensors: field %q: %w", v.name, err))
			continue
		}
		t.spec = append(t.spec, Field{Name: v.name, Dtype: r.dtype, Shape: r.shape})
		t.rows = append(t.rows, r)
		if i == 0 {
			t.n = r.n
		} else if r.n != t.n && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("dataset: Tensors: field %q has %d samples, field %q has %d", v.name, r.n, fields[0].name, t.n))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, t.spec.Validate())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

// tensors is its own Reader, because it keeps nothing from sample to sample.
type tensors struct {
	spec Spec
	rows []rows
	n    int
}

func (t *tensors) Len() int              { return t.n }
func (t *tensors) Spec() Spec            { return t.spec }
func (t *tensors) Open() (Reader, error) { return t, nil }
func (t *tensors) Close() error          { return nil }

func (t *tensors) Place(_ context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, t.n); err != nil {
		return err
	}
	for f := range t.rows {
		copy(dst.Cell(f).Bytes(), t.rows[f].at(i))
	}
	return nil
}

// rows are the samples of one field in memory, either contiguous or each in memory of
// its own.
type rows struct {
	dtype Dtype
	shape Shape // of one row
	n     int

	base      unsafe.Pointer   // contiguous rows
	scattered []unsafe.Pointer // rows in memory of their own
	size      int              // bytes of one row
}

// at is the memory of row i, which must be below n.
func (r *rows) at(i int) []byte {
	if r.scattered != nil {
		return unsafe.Slice((*byte)(r.scattered[i]), r.size)
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.base, i*r.size)), r.size)
}

// rowsOf makes rows from a tensor or slice, without a copy. Its first dimension is the number of rows.
func rowsOf(values any) (r rows, err error) {
	if t, ok := values.(Tensor); ok && t.dtype.valid() {
		r, err = tensorRows(t)
	} else {
		r, err = sliceRows(values)
	}
	if err != nil {
		return rows{}, err
	}
	r.size = r.dtype.Size() * r.shape.Elements()
	return r, nil
}

func tensorRows(t Tensor) (rows, error) {
	if len(t.shape) == 0 {
		return rows{}, errors.New("a scalar tensor: want a first dimension, the number of samples")
	}
	return rows{dtype: t.dtype, shape: t.shape[1:], n: t.shape[0], base: unsafe.Pointer(unsafe.SliceData(t.memory))}, nil
}

func sliceRows(values any) (r rows, err error) {
	v := reflect.ValueOf(values)
	if v.Kind() != reflect.Slice {
		return r, fmt.Errorf("values of type %T: want a slice or a dataset.Tensor", values)
	}
	elem := v.Type().Elem()
	r = rows{n: v.Len(), base: v.UnsafePointer()}
	if elem.Kind() == reflect.Slice {
		if err := r.scatter(v); err != nil {
			return r, err
		}
		elem = elem.Elem()
	}
	for elem.Kind() == reflect.Array {
		r.shape = append(r.shape, elem.Len())
		elem = elem.Elem()
	}
	r.dtype, err = dtypeOfType(elem)
	return r, err
}

// scatter finds rows in a slice of slices.
func (r *rows) scatter(v reflect.Value) error {
	if v.Len() == 0 {
		return errors.New("no rows, so their length is unknown")
	}
	r.scattered = make([]unsafe.Pointer, v.Len())
	want := v.Index(0).Len()
	for i := range r.scattered {
		row := v.Index(i)
		if row.Len() != want {
			return fmt.Errorf("row %d has %d values, row 0 has %d", i, row.Len(), want)
		}
		r.scattered[i] = row.UnsafePointer()
	}
	r.shape = Shape{want}
	return nil
}
