package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Over is what becomes of the samples of a dataset with these fields.
func (p *Program) Over(in dataset.Spec) (x *engine.Task, err error) {
	spec := slices.Clone(in)
	x = &engine.Task{Plan: &p.Plan, In: in, Out: spec, Field: spec.Index(p.Field)}
	if x.Field < 0 {
		return nil, fmt.Errorf("the dataset has no field %q, only %v", p.Field, spec)
	}
	f := spec[x.Field]
	if f.Ragged {
		if f.Bytes() != 1 || f.Elements() != 1 {
			err = errors.New("want files as ragged uint8")
		}
	} else if p.Deep != nil {
		x.Raw, err = p.deepRaw(f)
	} else {
		x.Raw, err = source.PixelsOf(f)
	}
	if err != nil {
		return nil, fmt.Errorf("field %v: %w", f, err)
	}
	if err := p.findFields(spec); err != nil {
		return nil, err
	}
	if len(p.groups) > 0 {
		if x.Out, err = p.withViews(spec, x.Field, x.Raw.W, x.Raw.H); err != nil {
			return nil, err
		}
		return x, nil
	}
	if spec[x.Field], err = p.fieldOf(x.Raw.W, x.Raw.H); err != nil {
		return nil, err
	}
	spec[x.Field].Kind = dataset.Image
	if x.Layout, spec, err = p.annotate(spec, in); err != nil {
		return nil, err
	}
	if x.Out, err = p.withSizes(spec); err != nil {
		return nil, err
	}
	return x, nil
}

// Alone is the field of the results for single images.
func (p *Program) Alone() (dataset.Field, error) {
	if len(p.groups) > 0 {
		return dataset.Field{}, fmt.Errorf("%s: only for Images: here an image has one result", Views.name)
	}
	if p.any() {
		return dataset.Field{}, fmt.Errorf("%v: only for Images: here the image is alone", p.parts[0])
	}
	if err := p.findFields(nil); err != nil {
		return dataset.Field{}, err
	}
	return p.fieldOf(0, 0)
}
