package program

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// Steps of the user's own, which Having gives a function. They print as their text.
var (
	// OwnImage has a func(m *raster.Image, r *rand.Rand) error.
	OwnImage = &Kind{add: func(p *Program, c *Call) error {
		if err := p.beforeTensor(); err != nil {
			return fmt.Errorf("%w (a PlanesTransform may come after it)", err)
		}
		text, call := c.String(), c.Own.(func(m *raster.Image, r *rand.Rand) error)
		return p.editBytes(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			return e.LendImage(text, func(m *raster.Image) error { return call(m, r) })
		}))
	}}
	// OwnPlanes has a func(m *raster.Planes, r *rand.Rand) error.
	OwnPlanes = &Kind{add: func(p *Program, c *Call) error {
		o, op := &p.Output, engine.Planar{Text: c.String(), Call: c.Own.(func(m *raster.Planes, r *rand.Rand) error)}
		switch {
		case o.Float && o.Tensor:
			if err := p.notNested(); err != nil {
				return err
			}
			o.Own = append(o.Own, op)
			o.Calls = append(o.Calls, c.String())
			return nil
		case p.Deep == nil:
			return errors.New("want ToTensor or Depth16 before it")
		}
		return p.edit(c, op)
	}}
	// OwnSample has an [engine.Sampling], and the names of its fields as arguments.
	OwnSample = &Kind{add: func(p *Program, c *Call) error {
		if err := p.beforeTensor(); err != nil {
			return err
		}
		p.pause("augment   " + c.String())
		sampling := c.Own.(engine.Sampling)
		op := &sampling
		op.Text, op.Fields = c.String(), c.Args.texts()
		p.samplings = append(p.samplings, op)
		switch left := p.unmoved(op.Fields); {
		case op.Size == nil:
			p.Ops = append(p.Ops, op)
		case len(left) > 0:
			return fmt.Errorf("changes the size: name the fields %q of Boxes, Mask, Masks and KeyPoints, so that it can move them", left)
		default:
			p.Ops = append(p.Ops, sizedSampling{op})
		}
		return nil
	}}
	// Unfit has the error of a step that there cannot be.
	Unfit = &Kind{add: func(_ *Program, c *Call) error { return c.Own.(error) }}
)

// unmoved are the fields of annotations that are not among these.
func (a *annotated) unmoved(fields []string) (left []string) {
	for _, name := range a.names() {
		if !slices.Contains(fields, name) {
			left = append(left, name)
		}
	}
	return left
}

// A sizedSampling is one that changes the size.
type sizedSampling struct{ *engine.Sampling }

func (s sizedSampling) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	return s.Size(w, h)
}

// findFields finds the fields of all SampleTransforms in the spec of the dataset, which is
// nil for a single image.
func (p *Program) findFields(spec dataset.Spec) error {
	var errs []error
	for _, s := range p.samplings {
		errs = append(errs, p.find(s, spec))
	}
	for _, v := range p.groups {
		err := v.program.findFields(spec)
		if !v.crops {
			err = within(v.place, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// find finds the fields of a step in the spec.
func (p *Program) find(s *engine.Sampling, spec dataset.Spec) error {
	for _, name := range s.Fields {
		at := spec.Index(name)
		if spec == nil {
			return fmt.Errorf("%v: a single image has no other fields", s)
		}
		if at < 0 {
			return fmt.Errorf("%v: the dataset has no field %q, only %v", s, name, spec)
		}
		if name == p.Field {
			return fmt.Errorf("%v: that is the field of the images", s)
		}
		mask := slices.IndexFunc(p.masks, func(m maskField) bool { return m.Name == name })
		s.At, s.Masks = append(s.At, at), append(s.Masks, mask)
		s.Sees = s.Sees || mask >= 0
	}
	return nil
}
