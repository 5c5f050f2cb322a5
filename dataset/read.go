package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/slots"
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

// Worker returns the id of the loader's worker that places a sample, from 0 to
// Workers-1. ctx is the context of Place or PlaceBatch; datasets that wrap
// another one pass it on. ok is false outside a loader.
//
// Use it in a Reader that needs something of its own per worker: a device, a
// connection, a folder for scratch files. Make it when the first sample is
// placed, because Open has no context. What a sample holds must not depend on
// the id, because any worker may place any sample. In PyTorch the id is
// get_worker_info().id.
func Worker(ctx context.Context) (id int, ok bool) { return slots.Worker(ctx) }

// A PanicError is the error that a panic of your own code becomes where samples are placed: in a
// dataset, a transform, a decoder, a sampler or a hook. Errors around it say whose code it was, and
// which sample it worked on.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the panicking goroutine, as debug.Stack prints it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap is the argument of panic if it was an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// MayPass reports whether err says nothing about the sample, so that the same read may succeed later
// or in another run: it, or an error that it wraps, has a method Temporary that returns true. A
// loader ends with such an error even if it skips or replaces samples that fail, because which
// samples it delivers must not depend on the time.
func MayPass(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case interface{ Temporary() bool }:
		if e.Temporary() {
			return true
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return MayPass(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), MayPass)
	}
	return false
}
