package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A PadMode says how padding is filled.
type PadMode uint8

// The modes, with torchvision's names. The comments show a row of pixels abc that
// is padded by two on each side.
const (
	Constant  = PadMode(raster.Constant)  // the fill colour: ··abc··
	Edge      = PadMode(raster.Edge)      // the pixel at the edge: aaabccc
	Reflect   = PadMode(raster.Reflect)   // mirrored without the pixel at the edge: cbabcba
	Symmetric = PadMode(raster.Symmetric) // mirrored with the pixel at the edge: baabccb
)

// String is torchvision's name of the mode.
func (m PadMode) String() string {
	names := [...]string{"constant", "edge", "reflect", "symmetric"}
	if int(m) < len(names) {
		return names[m]
	}
	return "unknown"
}

// Pad adds pixels around the image. Pad(n) adds n on every side. Pad(x, y) adds x
// left and right, and y above and below. Pad(left, top, right, bottom) sets every
// side.
func Pad(widths ...int) Padding { return Padding{widths: widths} }

// Padding is the step that [Pad] makes.
type Padding struct {
	widths []int
	fill   [3]uint8
	mode   PadMode
}

// Fill sets the colour of the padding. The default is black.
func (s Padding) Fill(r, g, b uint8) Padding {
	s.fill = [3]uint8{r, g, b}
	return s
}

// Mode sets how the padding is filled. The default is [Constant].
func (s Padding) Mode(m PadMode) Padding {
	s.mode = m
	return s
}

// String prints the call that made the step.
func (s Padding) String() string { return steps.Call("Pad", steps.Anys(s.widths)...) + s.options() }

func (s Padding) options() string {
	text := ""
	if s.fill != [3]uint8{} {
		text += fillCall(s.fill)
	}
	if s.mode != Constant {
		text += steps.Call(".Mode", s.mode)
	}
	return text
}

func fillCall(c [3]uint8) string { return steps.Call(".Fill", c[0], c[1], c[2]) }

func (s Padding) check() error {
	if n := len(s.widths); n != 1 && n != 2 && n != 4 {
		return errors.New("want 1, 2 or 4 widths")
	}
	for _, n := range s.widths {
		if n < 0 || n > maxSide {
			return errors.New("want widths of 0 or more")
		}
	}
	if s.mode > Symmetric {
		return fmt.Errorf("want the mode Constant, Edge, Reflect or Symmetric, not number %d", s.mode)
	}
	return nil
}

func (s Padding) add(p *program) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.mode != Constant {
		if err := p.annotated.rigid(); err != nil {
			return err
		}
	}
	return p.geometry(s, pads)
}

// frame is the rectangle of the padded image, in the coordinates of the image of
// w×h before it.
func (s Padding) frame(w, h int) image.Rectangle {
	d := s.widths
	switch len(d) {
	case 1:
		return image.Rect(-d[0], -d[0], w+d[0], h+d[0])
	case 2:
		return image.Rect(-d[0], -d[1], w+d[0], h+d[1])
	}
	return image.Rect(-d[0], -d[1], w+d[2], h+d[3])
}

func (s Padding) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	size := s.frame(w, h).Size()
	return size.X, size.Y
}

func (s Padding) move(e *engine, _ *rand.Rand) error {
	return s.around(e, s.frame(e.size()))
}

// around pads the image to frame.
func (s Padding) around(e *engine, frame image.Rectangle) error {
	if s.mode == Constant || frame.Size() == e.view.canvas {
		return e.crop(frame, s.fill)
	}
	if err := e.check(frame.Dx(), frame.Dy()); err != nil {
		return err
	}
	if err := e.render(); err != nil {
		return err
	}
	e.frame.Pad(frame, raster.PadMode(s.mode))
	e.moved()
	e.annotations.pad(frame, s.mode)
	return nil
}
