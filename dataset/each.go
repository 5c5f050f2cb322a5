package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/internal/slots"
)

// Each places all samples, one after the other, and hands each to use, whose
// error ends it. It is for writing datasets to files, not for loading them. The
// slot is the same one for all samples. Random augmentations are those of seed
// 0, epoch 0 and the sample's own place.
func Each(ctx context.Context, ds Dataset, use func(i int, s Slot) error) (err error) {
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return err
	}
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s := NewSlot(spec...)
	for i := range ds.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots.Slot(s).Draw().Reset(0, 0, i)
		if err := r.Place(ctx, i, s); err != nil {
			return sampleError(ds, i, err)
		}
		if err := use(i, s); err != nil {
			return err
		}
	}
	return nil
}

// sampleError names the sample that an error of a Reader is about.
func sampleError(ds Dataset, i int, err error) error {
	if name := Name(ds, i); name != "" {
		return fmt.Errorf("dataset: sample %d (%s): %w", i, name, err)
	}
	return fmt.Errorf("dataset: sample %d: %w", i, err)
}
