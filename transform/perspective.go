package transform

import (
	"errors"
	"image"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
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
	m := toCorners(w, h, corners)
	return e.warp(&m, w, h, s.painter)
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

// toCorners is the mapping that shows the corners of an image of w×h at the points. As in
// torchvision its numbers are rounded to float32.
func toCorners(w, h int, corners [4]image.Point) mapping {
	from := [4]image.Point{{0, 0}, {w - 1, 0}, {w - 1, h - 1}, {0, h - 1}}
	var a [8][9]float64 // equations, with the right side in the last column
	for i, to := range corners {
		x, y := float64(to.X), float64(to.Y)
		u, v := float64(from[i].X), float64(from[i].Y)
		a[2*i] = [9]float64{x, y, 1, 0, 0, 0, -u * x, -u * y, u}
		a[2*i+1] = [9]float64{0, 0, 0, x, y, 1, -v * x, -v * y, v}
	}
	m := solve(&a)
	for i := range m {
		m[i] = float64(float32(m[i]))
	}
	return m
}

// solve solves linear equations by elimination. Where they have no solution, the result has
// numbers that are not finite.
func solve(a *[8][9]float64) (x mapping) {
	for i := range a {
		best := i
		for k := i + 1; k < len(a); k++ {
			if math.Abs(a[k][i]) > math.Abs(a[best][i]) {
				best = k
			}
		}
		a[i], a[best] = a[best], a[i]
		for k := i + 1; k < len(a); k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < len(a[k]); j++ {
				a[k][j] -= float64(f * a[i][j])
			}
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		x[i] = a[i][8]
		for j := i + 1; j < len(x); j++ {
			x[i] -= float64(a[i][j] * x[j])
		}
		x[i] /= a[i][i]
	}
	return x
}
