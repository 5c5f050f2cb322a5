package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/slots"
)

// A Batch is some samples with the fields of a spec. A batch of package loader is one.
type Batch interface {
	// Spec describes the fields.
	Spec() Spec
	// Bytes is a field of all samples, one after the other, in the machine's byte order.
	Bytes(field string) []byte
	// Offsets says where the samples of a ragged field begin and end, in elements: one
	// number more than there are samples.
	Offsets(field string) []int
}

// A BatchStep changes whole batches after their samples are placed: it mixes
// images, or computes a field from all samples. [BatchFunc] makes one of a
// function. The loader runs it, in the worker that completes the batch: see the
// option Collate of package loader.
type BatchStep interface {
	// Bind prepares the step for batches with the fields before. It returns the fields
	// after the step, and the function that computes them. It returns an error if the
	// step cannot work with these fields. Fields that it adds or changes must not be
	// ragged.
	Bind(before Spec) (after Spec, apply BatchApply, err error)
}

// BatchApply computes dst from src. A field with the same name, dtype and shape in
// both is passed on: dst and src share its memory, and the function may change it. All
// other fields of dst are zeros at first.
//
// Workers call the function at the same time, for different batches. It must not keep
// the columns.
type BatchApply func(dst, src Columns) error

// Columns are the fields of a whole batch, in the order of a Spec. They are valid
// during one call of a [BatchApply].
type Columns slots.Columns

// Len is the number of samples. In the last batch of an epoch it may be below the
// batch size.
func (c Columns) Len() int { return slots.Columns(c).Rows() }

// Bytes is field f of all samples, one after the other, in the machine's byte order.
func (c Columns) Bytes(f int) []byte { return slices.Clip(slots.Columns(c).Values(f).Bytes) }

// Offsets says where the samples of the ragged field f begin and end: sample r has
// the elements from o[r] up to, but not including, o[r+1]. They must not be
// changed. Offsets is nil for other fields.
func (c Columns) Offsets(f int) []int { return slots.Columns(c).Values(f).Ends }

// Rand gives the random numbers of the batch. They depend on the loader's seed, the
// epoch and the place of the batch's first sample in the sampler's global order,
// and on nothing else. So they are the same for any number of workers and after a
// resume, and differ between ranks. They are not those of any sample.
func (c Columns) Rand() *rand.Rand { return slots.Columns(c).Draw().Rand() }

// Column is the values of field f of all samples, one sample after the other. It
// panics if T is not the field's dtype.
func Column[T Element](c Columns, f int) []T { return slots.ColumnOf[T](slots.Columns(c), f) }

// BatchFunc makes a [BatchStep] of a function. Each of fields takes the place of the
// field of that name, or is added at the end; the others stay. Without fields, dst and
// src are the same.
//
//	dataset.BatchFunc(func(dst, _ dataset.Columns) error {
//		images := dataset.Column[float32](dst, 0)
//		…
//		return nil
//	})
func BatchFunc(f BatchApply, fields ...Field) BatchStep { return batchFunc{f, fields} }

type batchFunc struct {
	f      BatchApply
	fields Spec
}

func (b batchFunc) Bind(before Spec) (Spec, BatchApply, error) {
	if b.f == nil {
		return nil, nil, errors.New("dataset: BatchFunc: no function")
	}
	after := slices.Clone(before)
	for k, f := range b.fields {
		if b.fields.Index(f.Name) < k {
			return nil, nil, fmt.Errorf("dataset: BatchFunc: two fields are named %q", f.Name)
		}
		if at := after.Index(f.Name); at >= 0 {
			after[at] = f
		} else {
			after = append(after, f)
		}
	}
	return after, b.f, nil
}

// BatchChoice makes a [BatchStep] that applies one of the steps to every batch, each
// with the same probability, as torchvision's RandomChoice does: MixUp or CutMix. All
// steps must leave the same fields.
func BatchChoice(steps ...BatchStep) BatchStep { return batchChoice(steps) }

type batchChoice []BatchStep

func (c batchChoice) Bind(before Spec) (after Spec, _ BatchApply, err error) {
	if len(c) == 0 {
		return nil, nil, errors.New("dataset: BatchChoice: no steps")
	}
	choices := make([]BatchApply, len(c))
	for k, step := range c {
		if step == nil {
			return nil, nil, fmt.Errorf("dataset: BatchChoice: step %d is nil", k)
		}
		spec, apply, err := step.Bind(before)
		if err != nil {
			return nil, nil, err
		}
		if k > 0 && !sameSpec(spec, after) {
			return nil, nil, fmt.Errorf("dataset: BatchChoice: steps leave different fields: %v; %v", after, spec)
		}
		after, choices[k] = spec, apply
	}
	return after, func(dst, src Columns) error {
		return choices[src.Rand().IntN(len(choices))](dst, src)
	}, nil
}
