package volume

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

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

func (x *Augmented) findFields() []error {
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
