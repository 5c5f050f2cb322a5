package volume

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// An Augmented is a dataset with steps applied to its samples, made by
// [Augment].
type Augmented struct {
	dataset.Wrap
	before dataset.Spec
	spec   dataset.Spec
	p      *program
	fields []field
}

// Augment makes a dataset of the samples of ds, with the steps applied to their
// volumes.
//
// If ds is a [Cut], its volumes are known. For other datasets, [ScanFields] and
// [MaskFields] name the fields that hold volumes. These must be of fixed shape,
// with channels first and equal shapes after the channels. All other fields
// pass through.
//
// Crops and rotations by 90° cannot work in place: the last of them writes into the
// slot, and the steps before it use memory of the worker. All other steps work in
// the slot. Augment reports all errors of the steps together.
func Augment(ds dataset.Dataset, steps ...Step) (*Augmented, error) {
	if ds == nil {
		return nil, errors.New("volume: Augment: the dataset is nil")
	}
	p := compile(steps, true)
	x := &Augmented{Wrap: dataset.Wrap{Dataset: ds}, before: ds.Spec(), spec: slices.Clone(ds.Spec()), p: p}
	errs := append(p.errs, x.findFields()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	names := make([]string, len(x.fields))
	vs := make([]*Volume, len(x.fields))
	for k, f := range x.fields {
		names[k] = f.name
		v := f.volume(x.before[f.at])
		vs[k] = &v
	}
	if err := p.checkNames(names); err != nil {
		return nil, err
	}
	for _, op := range p.floating {
		for _, v := range vs {
			if op.of(v) && v.Dtype != dataset.Float32 {
				errs = append(errs, fmt.Errorf("volume: %v: field %v: want float32", op, x.before[x.before.Index(v.Name)]))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := p.outline(vs); err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	for k, f := range x.fields {
		x.spec[f.at].Shape = vs[k].Shape
	}
	return x, x.spec.Validate()
}

// Spec is the spec of the underlying dataset with the shapes after all steps.
func (x *Augmented) Spec() dataset.Spec { return x.spec }

func (x *Augmented) volumes() []field { return x.fields }

// String is the plan: that of the underlying dataset, the steps and the result.
func (x *Augmented) String() string {
	texts := make([]string, len(x.fields))
	for k, f := range x.fields {
		texts[k] = x.spec[f.at].String()
	}
	inner := fmt.Sprintf("%v", x.before)
	if s, ok := x.Dataset.(fmt.Stringer); ok {
		inner = s.String()
	}
	text := inner + "\n"
	for k, op := range x.p.ops {
		how := "in the slot"
		if k < x.p.moving {
			how = "in memory of the worker"
		}
		if k == x.p.moving {
			how = "into the slot"
		}
		text += fmt.Sprintf("  augment   %v, %s\n", op, how)
	}
	return text + "  result    " + strings.Join(texts, ", ")
}

// Open makes a Reader with memory of its own.
func (x *Augmented) Open() (dataset.Reader, error) {
	inner, err := x.Wrap.Open()
	if err != nil {
		return nil, err
	}
	r := &reader{Augmented: x, inner: inner, cells: make([]dataset.Cell, len(x.spec))}
	r.memory.last = x.p.moving
	r.memory.of = make([]fieldMemory, len(x.fields))
	r.work.sample = &r.memory
	r.values = make([]Volume, len(x.fields))
	for k, f := range x.fields {
		r.values[k] = f.volume(x.before[f.at])
		r.volumes = append(r.volumes, &r.values[k])
		if x.p.moving >= 0 {
			r.first = append(r.first, dataset.NewCell(x.before[f.at]))
		}
	}
	return r, nil
}
