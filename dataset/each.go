package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/internal/slots"
)

// Each places all samples, one after the other, and calls use for each of them.
// It stops at the first error of use and returns it. It is for writing datasets
// to files, not for loading them. All calls get the same slot. Random
// transforms draw the numbers of seed 0, epoch 0, with sample i at place i of
// the order.
func Each(ctx context.Context, ds Dataset, use func(i int, s Slot) error) (err error) {
	if err := needsLength("all samples", ds); err != nil {
		return err
	}
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
		slots.Slot(s).Draw().Reset(0, 0, int64(i))
		if err := r.Place(ctx, i, s); err != nil {
			return sampleError(ds, i, err)
		}
		if err := use(i, s); err != nil {
			return err
		}
	}
	return nil
}

// sampleError adds the sample's index and name to an error of a Reader.
func sampleError(ds Dataset, i int, err error) error {
	if name := Name(ds, i); name != "" {
		return wrap(fmt.Sprintf("sample %d (%s)", i, name), err)
	}
	return wrap(fmt.Sprintf("sample %d", i), err)
}

// wrap says what err is about. If err is of this package, it begins with
// "dataset: ". wrap removes that, so that the whole error has it once.
func wrap(what string, err error) error { return wrapped{what, err} }

type wrapped struct {
	what string
	err  error
}

func (w wrapped) Error() string {
	const name = "dataset: "
	return name + w.what + ": " + strings.TrimPrefix(w.err.Error(), name)
}

func (w wrapped) Unwrap() error { return w.err }
