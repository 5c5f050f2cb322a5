package transform

import (
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A chance is a step that changes pixels with probability p.
type chance struct {
	*call
	p   float64
	run func(f raster.Frame)
}

func (c chance) add(p *program) error {
	if err := figures.CheckProbability(c.p); err != nil {
		return err
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + c.String())
	p.Ops = append(p.Ops, chancing{c.p, editing{c}})
	return nil
}

// chancing is the operation of a chance. It draws before it asks for pixels.
type chancing struct {
	p float64
	editing
}

func (c chancing) Do(e *engine.Engine, r *rand.Rand) error {
	if r.Float64() >= c.p {
		return nil
	}
	return c.editing.Do(e, r)
}

func (c chance) edit(e *engine.Engine, _ *rand.Rand) error {
	c.run(e.Frame)
	return nil
}
