package program

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// Own is a step of the user's own: Having gives it an [engine.Sampling], and its arguments are the names of its fields.
// It prints as its text.
var Own = &Kind{add: func(p *Program, c *Call) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	op := c.Own.(engine.Sampling)
	op.Text, op.Fields = c.String(), c.Args.texts()
	p.samplings = append(p.samplings, &op)
	return p.edit(c, &op)
}}

// OwnBytes is Own for images of 8 bits alone.
var OwnBytes = &Kind{add: func(p *Program, c *Call) error {
	if p.Deep != nil {
		return errColours
	}
	return Own.add(p, c)
}}

// findFields finds the fields of all SampleTransforms in the spec of the dataset, which is nil for a single image.
func (p *Program) findFields(spec dataset.Spec) error {
	var errs []error
	for _, s := range p.samplings {
		errs = append(errs, p.find(s, spec))
	}
	for _, v := range p.groups {
		errs = append(errs, within(v.place, v.program.findFields(spec)))
	}
	return errors.Join(errs...)
}

// find finds the fields of a step in the spec.
func (p *Program) find(s *engine.Sampling, spec dataset.Spec) error {
	for _, name := range s.Fields {
		at := spec.Index(name)
		if spec == nil {
			return fmt.Errorf("%s: a single image has no other fields", s.Text)
		}
		if at < 0 {
			return fmt.Errorf("%s: the dataset has no field %q, only %v", s.Text, name, spec)
		}
		if name == p.Field {
			return fmt.Errorf("%s: that is the field of the images", s.Text)
		}
		mask := p.maskAt(name)
		s.At, s.Masks = append(s.At, at), append(s.Masks, mask)
		s.Sees = s.Sees || mask >= 0
	}
	return nil
}
