package transform

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// RandomZoomOut puts the image at a random place on a larger canvas with probability p, as in SSD
// (arXiv 1512.02325): torchvision's RandomZoomOut, whose default for p is 0.5.
//
// [SideRange] is how many times as wide and high the canvas is; the default is 1 to 4. [Fill] is its colour, by
// default black; that of [Mask] is the number in masks.
func RandomZoomOut(p float64, options ...Option) Step {
	return zoomingOut{calling("RandomZoomOut", keySideRange|keyFill, arguments{side: engine.Span{Least: 1, Greatest: 4}}, options, p), p}
}

type zoomingOut struct {
	*call
	p float64
}

func (s zoomingOut) add(p *program) error {
	if err := figures.CheckProbability(s.p); err != nil {
		return err
	}
	return p.geometry(s, pads)
}

func (s zoomingOut) after(_, _ int) (w, h int) { return 0, 0 }

func (s zoomingOut) Move(e *engine.Engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	w, h := e.Size()
	side := drawn(s.side, r)
	toW, toH := int(float32(w)*side), int(float32(h)*side)
	dx, dy := r.Float32(), r.Float32()
	left, top := int(float32(toW-w)*dx), int(float32(toH-h)*dy)
	return e.Crop(image.Rect(-left, -top, toW-left, toH-top), s.colour)
}

// drawn is torch.rand(1) scaled to a span: float32, like all numbers of 24 random bits.
func drawn(s engine.Span, r *rand.Rand) float32 {
	return float32(s.Least) + float32(r.Float32()*float32(s.Greatest-s.Least))
}

// FixedSizeCrop makes images of any size size×size, or height×width: it cuts out a random part of
// those that are larger, and pads those that are smaller at the right and at the
// bottom. It is the step of torchvision's detection references for large scale
// jitter, after [ScaleJitter]. If it cuts, it removes the boxes that become empty,
// with their rows and planes.
//
// [Fill] is the colour of the padding, by default black.
func FixedSizeCrop[S Size](size S, options ...Option) Step {
	return fixedCropping{calling("FixedSizeCrop", keyFill, arguments{}, options, size), extentOf(size)}
}

type fixedCropping struct {
	*call
	size extent
}

func (s fixedCropping) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	return p.geometry(s, pads)
}

func (s fixedCropping) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s fixedCropping) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	cw, ch := min(w, s.size.w), min(h, s.size.h)
	part := r.Float32() // one number for both sides, as there
	left, top := int(float32(w-cw)*part), int(float32(h-ch)*part)
	if cw != w || ch != h {
		if err := e.Crop(image.Rect(left, top, left+cw, top+ch), s.colour); err != nil {
			return err
		}
		e.Annotations.RemoveEmpty()
	}
	if cw != s.size.w || ch != s.size.h {
		return e.Crop(image.Rect(0, 0, s.size.w, s.size.h), s.colour)
	}
	return nil
}
