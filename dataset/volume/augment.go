package volume

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// augmented is a dataset with steps applied to its samples.
type augmented struct {
	dataset.Wrap
	spec   dataset.Spec
	p      *program
	fields []field
}

// Augment makes a dataset of the samples of ds, with the steps applied to their
// volumes, in place.
//
// If a [Cohort] made ds, its volumes are known. For other datasets, [ScanFields] and
// [MaskFields] name the fields that hold volumes, of fixed shape with channels first.
// Printed with %v, the dataset shows its plan.
func Augment(ds dataset.Dataset, steps ...Step) (dataset.Dataset, error) {
	if ds == nil {
		return nil, errors.New("volume: Augment: the dataset is nil")
	}
	p := compile(steps, true)
	x := &augmented{Wrap: dataset.Wrap{Dataset: ds}, spec: ds.Spec(), p: p}
	errs := append(p.errs, x.findFields()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	names := make([]string, len(x.fields))
	vs := make([]*Volume, len(x.fields))
	for k, f := range x.fields {
		names[k] = f.name
		vs[k] = f.volume(x.spec[f.at])
	}
	if err := p.checkNames(names); err != nil {
		return nil, err
	}
	if err := p.outline(vs); err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	for k, f := range x.fields {
		if of := x.spec[f.at]; vs[k].Dtype != of.Dtype {
			errs = append(errs, fmt.Errorf("volume: the steps make %v of field %v: want it so, see As", vs[k].Dtype, of))
		}
	}
	return x, errors.Join(errs...)
}

func (x *augmented) volumes() []field { return x.fields }

// String is the plan: that of the underlying dataset and the steps.
func (x *augmented) String() string {
	text := fmt.Sprintf("%v", x.spec)
	if s, ok := x.Dataset.(fmt.Stringer); ok {
		text = s.String()
	}
	for _, op := range x.p.ops {
		text += fmt.Sprintf("\n  augment   %v", op)
	}
	return text
}

// Open makes a Reader with memory of its own.
func (x *augmented) Open() (dataset.Reader, error) {
	inner, err := x.Wrap.Open()
	if err != nil {
		return nil, err
	}
	r := &reader{augmented: x, inner: inner}
	for _, f := range x.fields {
		r.volumes = append(r.volumes, f.volume(x.spec[f.at]))
	}
	return r, nil
}

// field is a field that holds volumes.
type field struct {
	at   int // in the spec
	name string
	mask bool
}

// ScanFields names the fields of measured values for [Augment].
func ScanFields(names ...string) Step {
	return fieldNames{"ScanFields", slices.Clone(names), false}
}

// MaskFields names the fields of labels for [Augment].
func MaskFields(names ...string) Step {
	return fieldNames{"MaskFields", slices.Clone(names), true}
}

type fieldNames struct {
	call  string
	names []string
	mask  bool
}

func (f fieldNames) String() string { return figures.Call(f.call, figures.Anys(f.names)...) }

func (f fieldNames) add(p *program) error {
	if f.mask {
		p.masks = append(p.masks, f.names...)
	} else {
		p.scans = append(p.scans, f.names...)
	}
	return nil
}

// fields are the fields that ScanFields and MaskFields name.
func (p *program) fields() []field {
	var all []field
	for _, n := range p.scans {
		all = append(all, field{name: n})
	}
	for _, n := range p.masks {
		all = append(all, field{name: n, mask: true})
	}
	return all
}

func (x *augmented) findFields() []error {
	all := x.p.fields()
	if of, ok := x.Dataset.(interface{ volumes() []field }); ok && len(all) == 0 {
		all = of.volumes()
	}
	if len(all) == 0 {
		return []error{fmt.Errorf("volume: which fields of %v hold volumes? Name them with ScanFields and MaskFields", x.spec)}
	}
	var errs []error
	for _, f := range all {
		at := x.spec.Index(f.name)
		switch {
		case at < 0:
			errs = append(errs, fmt.Errorf("volume: the dataset has no field %q: it has %v", f.name, x.spec))
			continue
		case x.spec[at].Ragged:
			errs = append(errs, fmt.Errorf("volume: field %v is ragged: want a fixed shape", x.spec[at]))
			continue
		case len(x.spec[at].Shape) != 3 && len(x.spec[at].Shape) != 4:
			errs = append(errs, fmt.Errorf("volume: field %v: want (channels, z, y, x) or (channels, rows, columns)", x.spec[at]))
			continue
		case slices.ContainsFunc(x.fields, func(o field) bool { return o.at == at }):
			errs = append(errs, fmt.Errorf("volume: field %q: want it named once", f.name))
			continue
		}
		if len(x.fields) > 0 {
			if first := x.spec[x.fields[0].at]; !slices.Equal(first.Shape[1:], x.spec[at].Shape[1:]) {
				errs = append(errs, fmt.Errorf("volume: fields %v and %v: want one shape after the channels", first, x.spec[at]))
			}
		}
		x.fields = append(x.fields, field{at, f.name, f.mask})
	}
	return errs
}

// volume is the header of the volumes that the field holds.
func (f field) volume(of dataset.Field) *Volume {
	return &Volume{Name: f.name, Mask: f.mask, Dtype: of.Dtype,
		Shape: slices.Clone(of.Shape), Axes: make([]Axis, len(of.Shape))}
}

// A reader applies the steps to samples in their slots, for one worker.
type reader struct {
	*augmented
	inner   dataset.Reader
	volumes []*Volume
	work    work
}

// Close closes the underlying reader.
func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := r.inner.Place(ctx, i, dst); err != nil {
		return err
	}
	dst.Stage(dataset.StageAugment)
	r.work.ctx, r.work.rand = ctx, dst.Rand()
	for k, f := range r.fields {
		v := r.volumes[k]
		v.Data = dst.Cell(f.at).Bytes()
		v.Dtype = r.spec[f.at].Dtype // whatever a step made of the sample before
		v.Shape = append(v.Shape[:0], r.spec[f.at].Shape...)
	}
	if err := r.p.run(r.volumes, &r.work); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	for k, f := range r.fields {
		if v := r.volumes[k]; !slices.Equal(v.Shape, r.spec[f.at].Shape) || v.Dtype != r.spec[f.at].Dtype || &v.Data[0] != &dst.Cell(f.at).Bytes()[0] {
			return fmt.Errorf("volume: the steps made %v in other memory or of another shape, want %v", v, r.spec[f.at])
		}
	}
	return nil
}
