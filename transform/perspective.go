package transform

import (
	"errors"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomPerspective moves the four corners of the image inwards, each at random, with
// probability p: torchvision's RandomPerspective. Distortion, from 0 to 1, says how far a
// corner may move: by that part of half the width and height. Torchvision's defaults are
// RandomPerspective(0.5, 0.5). The result is that of PIL's Image.transform, bit for bit. Its
// numbers are those of torchvision, but for their rounding to float32. It does not antialias.
// An image with a side of 1 pixel stays as it is.
//
// [Interpolation] is [Bilinear] by default, and may be [Nearest] or [Bicubic]. [Fill] is the colour of what is
// outside the image, by default black.
func RandomPerspective(distortion, p float64, options ...Option) Step {
	return perspective{calling("RandomPerspective", keyInterpolation|keyFill, arguments{}, options, distortion, p), distortion, p}
}

type perspective struct {
	*call
	distortion, p float64
}

func (s perspective) add(p *program) error {
	if err := errors.Join(figures.CheckProbability(s.p), s.paints().Check()); err != nil {
		return err
	}
	if !(s.distortion >= 0 && s.distortion <= 1) {
		return errors.New("want a distortion from 0 to 1")
	}
	return p.Warp(s)
}

func (s perspective) paints() painter { return paintOf(s.call) }

func (s perspective) after(w, h int) (int, int) { return w, h }

func (s perspective) Move(e *engine.Engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	w, h := e.Size()
	corners := s.Draw(w, h, r)
	if w < 2 || h < 2 {
		return nil
	}
	if err := e.Render(); err != nil {
		return err
	}
	m := raster.ToCorners(w, h, corners)
	return e.Warp(m, w, h, s.paints().raster())
}

// Draw draws where the corners of an image of w×h go: from the upper left one on, clockwise.
func (s perspective) Draw(w, h int, r *rand.Rand) [4]image.Point {
	dx := func() int { return r.IntN(int(s.distortion*float64(w/2)) + 1) }
	dy := func() int { return r.IntN(int(s.distortion*float64(h/2)) + 1) }
	return [4]image.Point{
		{dx(), dy()},
		{w - 1 - dx(), dy()},
		{w - 1 - dx(), h - 1 - dy()},
		{dx(), h - 1 - dy()},
	}
}
