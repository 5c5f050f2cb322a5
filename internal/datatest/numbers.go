package datatest

import (
	"context"

	"github.com/penstock-go/penstock/dataset"
)

// Numbers has n samples of the field "x", int64, which is their index. place is called first.
func Numbers(n int, place func(i int, dst dataset.Slot) error) dataset.Dataset {
	return dataset.Func(n, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		if err := place(i, dst); err != nil {
			return err
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
}

// Named is ds with names for its samples.
func Named(ds dataset.Dataset, name func(i int) string) dataset.Dataset { return named{ds, name} }

type named struct {
	dataset.Dataset
	name func(i int) string
}

func (n named) Name(i int) string { return n.name(i) }
