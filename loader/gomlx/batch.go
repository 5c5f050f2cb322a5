package gomlx

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A field is one that becomes a tensor.
type field struct {
	name  string
	dtype dtypes.DType
	dims  []int // of one sample
	bytes int   // of one sample
}

func newField(spec dataset.Spec, name string) (field, error) {
	i := spec.Index(name)
	if i < 0 {
		return field{}, fmt.Errorf("no such field in %v", spec)
	}
	f := spec[i]
	if f.Ragged {
		return field{}, errors.New("the field is ragged: want samples of one shape")
	}
	dtype := dtypeOf(f.Dtype)
	if dtype == dtypes.InvalidDType {
		return field{}, fmt.Errorf("GoMLX has no dtype %v", f.Dtype)
	}
	dims := []int(f.Shape)
	if len(dims) == 0 {
		dims = []int{1}
	}
	return field{name, dtype, dims, f.Bytes()}, nil
}

// dtypeOf is GoMLX's dtype for that of a field, or dtypes.InvalidDType.
func dtypeOf(dt dataset.Dtype) dtypes.DType {
	switch dt {
	case dataset.Float16:
		return dtypes.Float16
	case dataset.BFloat16:
		return dtypes.BFloat16
	}
	return dtypes.FromGoType(dt.Type())
}

// batch copies a batch into tensors, which belong to the caller.
func (d *Dataset) batch(b *loader.Batch) (made train.Batch, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("gomlx: batch %d of epoch %d: %w", b.Number(), b.Epoch(), errors.Join(err, made.Finalize()))
			made = train.Batch{}
		}
	}()
	rows := b.Len()
	if d.padded {
		if rows > d.rows {
			return made, fmt.Errorf("%d samples are more than PadTo(%d)", rows, d.rows)
		}
		rows = d.rows
	}
	if made.Inputs, err = d.tensors(b, d.inputs, rows); err != nil {
		return made, err
	}
	if made.Labels, err = d.tensors(b, d.labels, rows); err != nil || !d.padded {
		return made, err
	}
	mask, err := d.mask(b.Len(), rows)
	if err == nil {
		made.Labels = append(made.Labels, mask)
	}
	return made, err
}

// tensors are fields of a batch, with rows of zeros after its samples. Those that
// were made before an error are returned with it.
func (d *Dataset) tensors(b *loader.Batch, fields []field, rows int) (list []*tensors.Tensor, err error) {
	for _, f := range fields {
		data := b.Bytes(f.name)
		if rows > b.Len() {
			data = append(make([]byte, 0, rows*f.bytes), data...)[:rows*f.bytes]
		}
		t, err := tensors.FromRaw(d.backend, d.device, shapes.Make(f.dtype, append([]int{rows}, f.dims...)...), data)
		if err != nil {
			return list, fmt.Errorf("field %q: %w", f.name, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// mask is true in the first n rows.
func (d *Dataset) mask(n, rows int) (*tensors.Tensor, error) {
	data := make([]byte, rows)
	for i := range n {
		data[i] = 1
	}
	t, err := tensors.FromRaw(d.backend, d.device, shapes.Make(dtypes.Bool, rows), data)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return t, nil
}
