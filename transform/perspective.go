package transform

import (
	"errors"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomPerspective moves the four corners of the image inwards, each at random, with
// probability p: torchvision's RandomPerspective. Distortion, from 0 to 1, says how far a
// corner may move: by that part of half the width and height. Torchvision's defaults are
// RandomPerspective(0.5, 0.5). The result is that of PIL's Image.transform, bit for bit. Its
// numbers are those of torchvision, but for their rounding to float32. It does not antialias.
// An image with a side of 1 pixel stays as it is.
func RandomPerspective(distortion, p float64) Perspective {
	return Perspective{distortion: distortion, p: p}
}

// Perspective is the step that [RandomPerspective] makes.
type Perspective struct {
	distortion, p float64
	painter       painter
}

// Filter sets the filter: [Nearest], [Bilinear] or [Bicubic]. The default is Bilinear, as in
// torchvision.
func (s Perspective) Filter(f Filter) Perspective {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s Perspective) Fill(r, g, b uint8) Perspective {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s Perspective) String() string {
	return steps.Call("RandomPerspective", s.distortion, s.p) + s.painter.options(Bilinear)
}

func (s Perspective) add(p *program) error {
	if err := errors.Join(steps.CheckProbability(s.p), s.painter.check()); err != nil {
		return err
	}
	if !(s.distortion >= 0 && s.distortion <= 1) {
		return errors.New("want a distortion from 0 to 1")
	}
	return p.warp(s)
}

func (s Perspective) after(w, h int) (int, int) { return w, h }

func (s Perspective) move(e *engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	w, h := e.size()
	corners := s.draw(w, h, r)
	if w < 2 || h < 2 {
		return nil
	}
	if err := e.render(); err != nil {
		return err
	}
	m := raster.ToCorners(w, h, corners)
	return e.warp(m, w, h, s.painter)
}

// draw draws where the corners of an image of w×h go: from the upper left one on, clockwise.
func (s Perspective) draw(w, h int, r *rand.Rand) [4]image.Point {
	dx := func() int { return r.IntN(int(s.distortion*float64(w/2)) + 1) }
	dy := func() int { return r.IntN(int(s.distortion*float64(h/2)) + 1) }
	return [4]image.Point{
		{dx(), dy()},
		{w - 1 - dx(), dy()},
		{w - 1 - dx(), h - 1 - dy()},
		{dx(), h - 1 - dy()},
	}
}
