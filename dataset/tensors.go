package dataset

import (
	"context"
	"errors"
	"fmt"
)

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
