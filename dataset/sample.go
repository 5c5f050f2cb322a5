package dataset

import (
	"context"
	"errors"
)

// A Sample is one sample outside a batch: a tensor per field, each with memory
// of its own. A ragged field of n elements has the shape (n, …).
type Sample map[string]Tensor

// At reads sample i, as indexing a dataset does in PyTorch. It opens a Reader
// for each call, so it is for looking at data, not for loading it. Random
// transforms draw the numbers of seed 0, epoch 0 and place 0 of the order.
func At(ctx context.Context, ds Dataset, i int) (_ Sample, err error) {
	if err := needsLength("At", ds); err != nil {
		return nil, err
	}
	if err := CheckIndex(i, ds.Len()); err != nil {
		return nil, err
	}
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	r, err := ds.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()

	slot := NewSlot(spec...)
	if err := r.Place(ctx, i, slot); err != nil {
		return nil, sampleError(ds, i, err)
	}
	sample := make(Sample, len(spec))
	for k, f := range spec {
		sample[f.Name] = slot.Cell(k).tensor(f)
	}
	return sample, nil
}

func (c Cell) tensor(f Field) Tensor {
	shape := f.Shape
	if f.Ragged {
		shape = shape.with(len(c.Bytes()) / f.Bytes())
	}
	return NewTensor(f.Dtype, shape, c.Bytes())
}
