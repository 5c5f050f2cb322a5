package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomRotation rotates the image counterclockwise by a random angle from least to greatest
// degrees: torchvision's RandomRotation. The result is that of PIL's Image.rotate, bit for bit. It
// does not antialias.
//
// [Interpolation] is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Expand] enlarges the
// result, [Center] sets the point around which the image is rotated, and [Fill] the colour of what is
// outside the image, by default black.
func RandomRotation(least, greatest float64, options ...Option) Step {
	c := calling("RandomRotation", keyInterpolation|keyExpand|keyCenter|keyFill, arguments{interpolation: Nearest}, options, least, greatest)
	return rotating{c, span{least, greatest}}
}

type rotating struct {
	*call
	degrees span
}

// checkAngles reports angles that are not finite or not in order.
func (s span) checkAngles(name string) error {
	if !(s.least >= -maxAngle && s.least <= s.greatest && s.greatest <= maxAngle) {
		return errors.New("want finite " + name + ", with the least number first")
	}
	return nil
}

// maxAngle is the limit of angles in steps. Larger ones are not exact.
const maxAngle = 1e6

func (s rotating) add(p *program) error {
	if err := errors.Join(s.degrees.checkAngles("degrees"), s.paints().check()); err != nil {
		return err
	}
	return p.warp(s)
}

func (s rotating) paints() painter { return paintOf(s.call) }

func (s rotating) after(w, h int) (int, int) {
	if s.expand {
		return 0, 0
	}
	return w, h
}

func (s rotating) move(e *engine, r *rand.Rand) error {
	t := raster.Turn{Angle: s.degrees.draw(r), Expand: s.expand, Centred: !s.has(keyCenter), CX: s.center[0], CY: s.center[1]}
	m, _, _ := t.Inverse(e.Size())
	w, h := t.Size(e.Size())
	if err := e.check(w, h); err != nil {
		return err
	}
	if err := e.render(); err != nil {
		return err
	}
	e.frame.Rotate(t, s.paints().raster())
	e.moved()
	return e.annotations.follow(&m, w, h)
}

// RandomAffine rotates the image clockwise by a random angle from least to greatest degrees around
// its centre, and moves, scales and shears it if options say so: torchvision's RandomAffine. The
// result is that of torchvision with PIL images, bit for bit. It does not antialias.
//
// [Translate], [Scale] and [Shear] are how far it moves, scales and shears, by default not at all. [Interpolation]
// is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Center] sets the point that stays where it
// is, and [Fill] the colour of what is outside the image, by default black.
func RandomAffine(least, greatest float64, options ...Option) Step {
	usual := arguments{scale: span{1, 1}, interpolation: Nearest}
	c := calling("RandomAffine", keyTranslate|keyScale|keyShear|keyInterpolation|keyFill|keyCenter, usual, options, least, greatest)
	return affine{c, span{least, greatest}}
}

type affine struct {
	*call
	degrees span
}

func (s affine) add(p *program) error {
	if err := errors.Join(s.degrees.checkAngles("degrees"), s.paints().check()); err != nil {
		return err
	}
	return p.warp(s)
}

func (s affine) paints() painter { return paintOf(s.call) }

func (s affine) after(w, h int) (int, int) { return w, h }

func (s affine) move(e *engine, r *rand.Rand) error {
	w, h := e.Size()
	cx, cy := float64(w)/2, float64(h)/2
	if s.has(keyCenter) {
		cx, cy = s.center[0], s.center[1]
	}
	m := s.draw(w, h, r).Inverse(cx, cy)
	if err := e.render(); err != nil {
		return err
	}
	return e.warp(m, w, h, s.paints())
}

// draw draws for an image of w×h.
func (s affine) draw(w, h int, r *rand.Rand) raster.Affinity {
	a := raster.Affinity{Angle: s.degrees.draw(r)}
	if x, y := s.translate[0]*float64(w), s.translate[1]*float64(h); x > 0 || y > 0 {
		a.MoveX = math.RoundToEven(span{-x, x}.draw(r))
		a.MoveY = math.RoundToEven(span{-y, y}.draw(r))
	}
	a.Scale = s.scale.draw(r)
	a.ShearX = s.shearX.draw(r)
	a.ShearY = s.shearY.draw(r)
	return a
}
