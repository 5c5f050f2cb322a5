package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
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
	return rotating{c, engine.Span{Least: least, Greatest: greatest}}
}

type rotating struct {
	*call
	degrees engine.Span
}

func (s rotating) add(p *program) error {
	if err := errors.Join(s.degrees.CheckAngles("degrees"), s.paints().Check()); err != nil {
		return err
	}
	return p.Warp(s)
}

func (s rotating) paints() painter { return paintOf(s.call) }

func (s rotating) after(w, h int) (int, int) {
	if s.expand {
		return 0, 0
	}
	return w, h
}

func (s rotating) Move(e *engine.Engine, r *rand.Rand) error {
	t := raster.Turn{Angle: s.degrees.Draw(r), Expand: s.expand, Centred: !s.has(keyCenter), CX: s.center[0], CY: s.center[1]}
	m, _, _ := t.Inverse(e.Size())
	w, h := t.Size(e.Size())
	if err := e.Check(w, h); err != nil {
		return err
	}
	if err := e.Render(); err != nil {
		return err
	}
	e.Frame.Rotate(t, s.paints().raster())
	e.Moved()
	return e.Annotations.Follow(&m, w, h)
}

// RandomAffine rotates the image clockwise by a random angle from least to greatest degrees around
// its centre, and moves, scales and shears it if options say so: torchvision's RandomAffine. The
// result is that of torchvision with PIL images, bit for bit. It does not antialias.
//
// [Translate], [Scale] and [Shear] are how far it moves, scales and shears, by default not at all. [Interpolation]
// is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Center] sets the point that stays where it
// is, and [Fill] the colour of what is outside the image, by default black.
func RandomAffine(least, greatest float64, options ...Option) Step {
	usual := arguments{scale: engine.Span{Least: 1, Greatest: 1}, interpolation: Nearest}
	c := calling("RandomAffine", keyTranslate|keyScale|keyShear|keyInterpolation|keyFill|keyCenter, usual, options, least, greatest)
	return affine{c, engine.Span{Least: least, Greatest: greatest}}
}

type affine struct {
	*call
	degrees engine.Span
}

func (s affine) add(p *program) error {
	if err := errors.Join(s.degrees.CheckAngles("degrees"), s.paints().Check()); err != nil {
		return err
	}
	return p.Warp(s)
}

func (s affine) paints() painter { return paintOf(s.call) }

func (s affine) after(w, h int) (int, int) { return w, h }

func (s affine) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	cx, cy := float64(w)/2, float64(h)/2
	if s.has(keyCenter) {
		cx, cy = s.center[0], s.center[1]
	}
	m := s.Draw(w, h, r).Inverse(cx, cy)
	if err := e.Render(); err != nil {
		return err
	}
	return e.Warp(m, w, h, s.paints().raster())
}

// Draw draws for an image of w×h.
func (s affine) Draw(w, h int, r *rand.Rand) raster.Affinity {
	a := raster.Affinity{Angle: s.degrees.Draw(r)}
	if x, y := s.translate[0]*float64(w), s.translate[1]*float64(h); x > 0 || y > 0 {
		a.MoveX = math.RoundToEven(engine.Span{Least: -x, Greatest: x}.Draw(r))
		a.MoveY = math.RoundToEven(engine.Span{Least: -y, Greatest: y}.Draw(r))
	}
	a.Scale = s.scale.Draw(r)
	a.ShearX = s.shearX.Draw(r)
	a.ShearY = s.shearY.Draw(r)
	return a
}
