package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomRotation rotates the image counterclockwise by a random angle from least to
// greatest degrees: torchvision's RandomRotation. The result is that of PIL's
// Image.rotate, bit for bit. It does not antialias.
func RandomRotation(least, greatest float64) Rotation {
	return Rotation{degrees: span{least, greatest}, painter: painter{filter: Nearest}}
}

// Rotation is the step that [RandomRotation] makes.
type Rotation struct {
	degrees span
	painter painter
	expand  bool
	centre  *[2]float64
}

// Filter sets the filter: [Nearest], [Bilinear] or [Bicubic]. The default is Nearest, as in
// torchvision.
func (s Rotation) Filter(f Filter) Rotation {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s Rotation) Fill(r, g, b uint8) Rotation {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// Expand makes the result large enough for the whole rotated image, so its size varies.
func (s Rotation) Expand() Rotation {
	s.expand = true
	return s
}

// Center sets the point, in pixels from the upper left corner, around which the image is
// rotated. The default is its centre.
func (s Rotation) Center(x, y float64) Rotation {
	s.centre = &[2]float64{x, y}
	return s
}

// String prints the call that made the step.
func (s Rotation) String() string {
	text := s.degrees.call("RandomRotation")
	if s.expand {
		text += ".Expand()"
	}
	return text + centreCall(s.centre) + s.painter.options(Nearest)
}

func centreCall(c *[2]float64) string {
	if c == nil {
		return ""
	}
	return steps.Call(".Center", c[0], c[1])
}

func checkCentre(c *[2]float64) error {
	if c != nil && !(math.Abs(c[0]) <= maxSide && math.Abs(c[1]) <= maxSide) {
		return errors.New("want a finite Center, at most 2^20 pixels away")
	}
	return nil
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

func (s Rotation) add(p *program) error {
	if err := errors.Join(s.degrees.checkAngles("degrees"), s.painter.check(), checkCentre(s.centre)); err != nil {
		return err
	}
	return p.warp(s)
}

func (s Rotation) after(w, h int) (int, int) {
	if s.expand {
		return 0, 0
	}
	return w, h
}

func (s Rotation) move(e *engine, r *rand.Rand) error {
	t := raster.Turn{Angle: s.degrees.draw(r), Expand: s.expand, Centred: s.centre == nil}
	if s.centre != nil {
		t.CX, t.CY = s.centre[0], s.centre[1]
	}
	m, _, _ := t.Inverse(e.size())
	w, h := t.Size(e.size())
	if err := e.check(w, h); err != nil {
		return err
	}
	if err := e.render(); err != nil {
		return err
	}
	e.frame.Rotate(t, s.painter.raster())
	e.moved()
	return e.annotations.follow(&m, w, h)
}

// RandomAffine rotates the image clockwise by a random angle from least to greatest degrees
// around its centre, and moves, scales and shears it if the methods say so: torchvision's
// RandomAffine. The result is that of torchvision with PIL images, bit for bit. It does not
// antialias.
func RandomAffine(least, greatest float64) Affinity {
	return Affinity{degrees: span{least, greatest}, scale: span{1, 1}, painter: painter{filter: Nearest}}
}

// Affinity is the step that [RandomAffine] makes.
type Affinity struct {
	degrees        span
	moveX, moveY   float64
	scale          span
	shearX, shearY span
	painter        painter
	centre         *[2]float64
}

// Translate moves the image by up to x of its width and y of its height, each from 0 to 1, to
// both sides. The default is 0.
func (s Affinity) Translate(x, y float64) Affinity {
	s.moveX, s.moveY = x, y
	return s
}

// Scale sets the least and the greatest factor by which the image is enlarged. The default is
// 1.
func (s Affinity) Scale(least, greatest float64) Affinity {
	s.scale = span{least, greatest}
	return s
}

// Shear shears parallel to the x axis by an angle from least to greatest degrees. The default
// is 0.
func (s Affinity) Shear(least, greatest float64) Affinity {
	s.shearX = span{least, greatest}
	return s
}

// ShearY shears parallel to the y axis too. The default is 0.
func (s Affinity) ShearY(least, greatest float64) Affinity {
	s.shearY = span{least, greatest}
	return s
}

// Filter sets the filter: [Nearest], [Bilinear] or [Bicubic]. The default is Nearest, as in
// torchvision.
func (s Affinity) Filter(f Filter) Affinity {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s Affinity) Fill(r, g, b uint8) Affinity {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// Center sets the point, in pixels from the upper left corner, that stays where it is, but for
// Translate. The default is the image's centre.
func (s Affinity) Center(x, y float64) Affinity {
	s.centre = &[2]float64{x, y}
	return s
}

// String prints the call that made the step.
func (s Affinity) String() string {
	text := s.degrees.call("RandomAffine")
	if s.moveX != 0 || s.moveY != 0 {
		text += steps.Call(".Translate", s.moveX, s.moveY)
	}
	if s.scale != (span{1, 1}) {
		text += s.scale.call(".Scale")
	}
	if s.shearX != (span{}) {
		text += s.shearX.call(".Shear")
	}
	if s.shearY != (span{}) {
		text += s.shearY.call(".ShearY")
	}
	return text + centreCall(s.centre) + s.painter.options(Nearest)
}

func (s Affinity) add(p *program) error {
	err := errors.Join(s.degrees.checkAngles("degrees"), s.scale.check("Scale"), s.shearX.checkAngles("Shear"),
		s.shearY.checkAngles("ShearY"), s.painter.check(), checkCentre(s.centre))
	if err != nil {
		return err
	}
	if !(s.moveX >= 0 && s.moveX <= 1 && s.moveY >= 0 && s.moveY <= 1) {
		return errors.New("want a Translate from 0 to 1")
	}
	return p.warp(s)
}

func (s Affinity) after(w, h int) (int, int) { return w, h }

func (s Affinity) move(e *engine, r *rand.Rand) error {
	w, h := e.size()
	cx, cy := float64(w)/2, float64(h)/2
	if s.centre != nil {
		cx, cy = s.centre[0], s.centre[1]
	}
	m := s.draw(w, h, r).Inverse(cx, cy)
	if err := e.render(); err != nil {
		return err
	}
	return e.warp(m, w, h, s.painter)
}

// draw draws for an image of w×h.
func (s Affinity) draw(w, h int, r *rand.Rand) raster.Affinity {
	a := raster.Affinity{Angle: s.degrees.draw(r)}
	if x, y := s.moveX*float64(w), s.moveY*float64(h); x > 0 || y > 0 {
		a.MoveX = math.RoundToEven(span{-x, x}.draw(r))
		a.MoveY = math.RoundToEven(span{-y, y}.draw(r))
	}
	a.Scale = s.scale.draw(r)
	a.ShearX = s.shearX.draw(r)
	a.ShearY = s.shearY.draw(r)
	return a
}
