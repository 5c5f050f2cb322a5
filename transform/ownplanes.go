package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A PlanesTransform edits one image of float32 values. All workers call it at the same
// time, so it must not change its own fields. Its random numbers are those of a [Transform].
// It must not keep the image after ApplyPlanes returns.
type PlanesTransform interface {
	ApplyPlanes(img *Planes, r *rand.Rand) error
}

type planar struct {
	own
	t PlanesTransform
}

func (s planar) String() string { return figures.Name(s.t) }

func (s planar) add(p *program) error {
	o := &p.output
	switch {
	case o.float && o.tensor:
		if err := p.notNested(); err != nil {
			return err
		}
		o.own = append(o.own, s)
		o.calls = append(o.calls, s.String())
		return nil
	case p.deep == nil:
		return errors.New("want ToTensor or Depth16 before it")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + s.String())
	p.ops = append(p.ops, s)
	return nil
}

// beforeOwn is the error of a step after a PlanesTransform of the tensor.
func (o *output) beforeOwn() error {
	if len(o.own) > 0 {
		return errors.New("want it before a PlanesTransform")
	}
	return nil
}

// checkOwn is the error of a result that a PlanesTransform does not take.
func (o *output) checkOwn() error {
	if len(o.own) > 0 && (!o.planar() || o.dtype != dataset.Float32) {
		return fmt.Errorf("%v: wants a result of float32 and CHW", o.own[0])
	}
	return nil
}

// do applies it to an image of Depth16.
func (s planar) do(e *engine, r *rand.Rand) error {
	if err := e.render(); err != nil {
		return err
	}
	e.slot.Stage(dataset.StageAugment)
	f := e.frame.(*floatFrame)
	if err := s.apply(e.of, (*Planes)(&f.Planes), r); err != nil {
		return err
	}
	raster.DepthOf(f.Dtype).Settle(f.Pix)
	return nil
}

func (s planar) apply(field string, m *Planes, r *rand.Rand) error {
	before := *m
	err := source.Guard(field, func() error { return s.t.ApplyPlanes(m, r) })
	m.Pix = inOwn(before.Pix, m.Pix)
	if err != nil {
		return fmt.Errorf("transform: %v: %w", s, err)
	}
	if m.Width != before.Width || m.Height != before.Height || m.Channels != before.Channels || len(m.Pix) != len(before.Pix) || m.Dtype != before.Dtype {
		return fmt.Errorf("transform: %v: made %s, want %s", s, (*raster.Planes)(m).Describe(), (*raster.Planes)(&before).Describe())
	}
	return nil
}

// applyOwn runs the steps after ToTensor on the result.
func (l *lane) applyOwn(out []byte, r *rand.Rand) error {
	o := &l.output
	for _, s := range o.own {
		l.planes = Planes{Pix: dense.Values[float32](out), Channels: o.channels, Width: o.w, Height: o.h, Dtype: dataset.Float32}
		if err := s.apply(l.engine.of, &l.planes, r); err != nil {
			return err
		}
	}
	l.planes.Pix = nil
	return nil
}
