package volume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/figures"
)

// augmented is a dataset with steps applied to its samples.
type augmented struct {
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
// [MaskFields] name the fields that hold volumes, of fixed shape with channels first.
// Printed with %v, the dataset shows its plan.
func Augment(ds dataset.Dataset, steps ...Step) (dataset.Dataset, error) {
	if ds == nil {
		return nil, errors.New("volume: Augment: the dataset is nil")
	}
	p := compile(steps, true)
	x := &augmented{Wrap: dataset.Wrap{Dataset: ds}, before: ds.Spec(), spec: slices.Clone(ds.Spec()), p: p}
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
func (x *augmented) Spec() dataset.Spec { return x.spec }

func (x *augmented) volumes() []field { return x.fields }

// String is the plan: that of the underlying dataset, the steps and the result.
func (x *augmented) String() string {
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
func (x *augmented) Open() (dataset.Reader, error) {
	inner, err := x.Wrap.Open()
	if err != nil {
		return nil, err
	}
	r := &reader{augmented: x, inner: inner, cells: make([]dataset.Cell, len(x.spec))}
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
		return []error{fmt.Errorf("volume: which fields of %v hold volumes? Name them with ScanFields and MaskFields", x.before)}
	}
	var errs []error
	for _, f := range all {
		at := x.before.Index(f.name)
		switch {
		case at < 0:
			errs = append(errs, fmt.Errorf("volume: the dataset has no field %q: it has %v", f.name, x.before))
			continue
		case x.before[at].Ragged:
			errs = append(errs, fmt.Errorf("volume: field %v is ragged: want a fixed shape", x.before[at]))
			continue
		case len(x.before[at].Shape) != 3 && len(x.before[at].Shape) != 4:
			errs = append(errs, fmt.Errorf("volume: field %v: want (channels, z, y, x) or (channels, rows, columns)", x.before[at]))
			continue
		case slices.ContainsFunc(x.fields, func(o field) bool { return o.at == at }):
			errs = append(errs, fmt.Errorf("volume: field %q: want it named once", f.name))
			continue
		}
		if len(x.fields) > 0 {
			if first := x.before[x.fields[0].at]; !slices.Equal(first.Shape[1:], x.before[at].Shape[1:]) {
				errs = append(errs, fmt.Errorf("volume: fields %v and %v: want one shape after the channels", first, x.before[at]))
			}
		}
		x.fields = append(x.fields, field{at, f.name, f.mask})
	}
	return errs
}

// volume is the header of the volumes that the field holds.
func (f field) volume(of dataset.Field) Volume {
	return Volume{Name: f.name, Mask: f.mask, Dtype: of.Dtype,
		Shape: slices.Clone(of.Shape), Axes: make([]Axis, len(of.Shape))}
}

// A reader applies the steps to samples, for one worker.
type reader struct {
	*augmented
	inner   dataset.Reader
	cells   []dataset.Cell // of the inner slot
	first   []dataset.Cell // what the inner dataset places, if that is not the slot
	values  []Volume
	volumes []*Volume
	memory  buffers
	work    work
}

// Close closes the underlying reader.
func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	for k, f := range r.fields {
		r.memory.of[k].slot = r.cells[f.at].Bytes()
		if r.first != nil {
			r.cells[f.at] = r.first[k]
		}
		v := &r.values[k]
		v.Data = r.cells[f.at].Bytes()
		v.Dtype = r.before[f.at].Dtype
		copy(v.Shape, r.before[f.at].Shape)
		clear(v.Axes)
	}
	if err := r.inner.Place(ctx, i, dst.With(r.cells)); err != nil {
		return err
	}
	dst.Stage(dataset.StageAugment)
	r.work.ctx, r.work.rand = ctx, dst.Rand()
	if err := r.p.run(r.volumes, &r.work); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	for k, f := range r.fields {
		if v := &r.values[k]; !slices.Equal(v.Shape, r.spec[f.at].Shape) || v.Dtype != r.spec[f.at].Dtype {
			return fmt.Errorf("volume: the steps made %v, want %v", v, r.spec[f.at])
		}
	}
	return nil
}

// buffers are a worker's memory for intermediate results.
type buffers struct {
	last   int // the operation that writes into the slot
	of     []fieldMemory
	region []bool
}

type fieldMemory struct {
	slot  []byte
	spare [2][]byte
	turn  int
}

// next returns n bytes for the result of volume k. They are not in use.
func (b *buffers) next(op, k, n int) []byte {
	m := &b.of[k]
	if op == b.last {
		return m.slot
	}
	m.turn = 1 - m.turn
	if cap(m.spare[m.turn]) < n {
		m.spare[m.turn] = bulk.Make(n)
	}
	return m.spare[m.turn][:n]
}

func (b *buffers) flags(n int) []bool {
	if cap(b.region) < n {
		b.region = make([]bool, n)
	}
	return b.region[:n]
}
