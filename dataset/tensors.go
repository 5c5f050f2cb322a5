package dataset

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// Values are one field of all samples in memory, made by [Named].
type Values struct {
	name   string
	values any
}

// Named makes a field of values, whose first dimension counts the samples:
//
//   - a *tensor.Dense of shape (n, …),
//   - a slice []T, a value per sample, or []([k]T), an array per sample,
//   - a slice of slices [][]T, all of one length, a row per sample,
//
// where T is a type of [Element] or has one of them beneath.
func Named(name string, values any) Values { return Values{name, values} }

// Tensors makes a dataset of fields in memory, as PyTorch's TensorDataset does;
// all have the same number of samples.
//
// The values are not copied, so they must not change while the dataset is used.
// Only a tensor that is transposed, sliced or column-major is copied, once, into
// the order of its indices.
func Tensors(fields ...Values) (Dataset, error) {
	t := new(tensors)
	if len(fields) == 0 {
		return nil, errors.New("dataset: Tensors: no fields")
	}
	var errs []error
	for i, v := range fields {
		rows, shape, dtype, n, err := rowsOf(v.values)
		if err != nil {
			errs = append(errs, fmt.Errorf("dataset: Tensors: field %q: %w", v.name, err))
			continue
		}
		f := Field{Name: v.name, Dtype: dtype, Shape: shape}
		rows.size = f.Bytes()
		t.spec = append(t.spec, f)
		t.rows = append(t.rows, rows)
		if i == 0 {
			t.n = n
		} else if n != t.n && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("dataset: Tensors: field %q has %d samples, field %q has %d", v.name, n, fields[0].name, t.n))
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

// rows are the samples of one field, either one after the other or each
// somewhere else.
type rows struct {
	base      unsafe.Pointer
	scattered []unsafe.Pointer
	size      int // bytes of one
}

func (r *rows) at(i int) []byte {
	if r.scattered != nil {
		return unsafe.Slice((*byte)(r.scattered[i]), r.size)
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.base, i*r.size)), r.size)
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
		copy(dst.cells[f].Bytes(), t.rows[f].at(i))
	}
	return nil
}
