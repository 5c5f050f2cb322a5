package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A PlanesTransform edits one image of float32 values. All workers call it at the same
// time, so it must not change its own fields. Its random numbers are those of a [Transform].
// It must not keep the image after ApplyPlanes returns.
type PlanesTransform interface {
	ApplyPlanes(img *Planes, r *rand.Rand) error
}

// A planesStep is a PlanesTransform as a step.
type planesStep struct {
	own
	t PlanesTransform
}

func (s planesStep) String() string { return figures.Name(s.t) }

func (s planesStep) add(p *program) error {
	o := &p.Output
	switch {
	case o.Float && o.Tensor:
		if err := p.notNested(); err != nil {
			return err
		}
		o.Own = append(o.Own, s.operation())
		o.Calls = append(o.Calls, s.String())
		return nil
	case p.Deep == nil:
		return errors.New("want ToTensor or Depth16 before it")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + s.String())
	p.Ops = append(p.Ops, s.operation())
	return nil
}

func (s planesStep) operation() engine.Planar {
	return engine.Planar{Text: s.String(), Call: func(m *raster.Planes, r *rand.Rand) error { return s.t.ApplyPlanes((*Planes)(m), r) }}
}
