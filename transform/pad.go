package transform

import (
	"errors"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
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

// Pad adds pixels around the image: torchvision's Pad. Pad(n) adds n on every side, Pad([2]int{x, y})
// x left and right and y above and below, and Pad([4]int{left, top, right, bottom}) as many as it says.
//
// [Fill] sets the colour, by default black, and [PaddingMode] says how the padding is filled, by default
// [Constant].
func Pad[W int | [2]int | [4]int](widths W, options ...Option) Step {
	c := calling("Pad", keyFill|keyPaddingMode, arguments{}, options, widths)
	switch v := any(widths).(type) {
	case int:
		c.padding = []int{v}
	case [2]int:
		c.padding = v[:]
	case [4]int:
		c.padding = v[:]
	}
	return padding{c}
}

// padding is the padding of Pad and of RandomCrop.
type padding struct{ *call }

func checkWidths(widths []int) error {
	if n := len(widths); n != 1 && n != 2 && n != 4 {
		return errors.New("want 1, 2 or 4 widths")
	}
	for _, n := range widths {
		if n < 0 || n > maxSide {
			return errors.New("want widths of 0 or more")
		}
	}
	return nil
}

func (s padding) add(p *program) error {
	if err := checkWidths(s.padding); err != nil {
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
func (s padding) frame(w, h int) image.Rectangle {
	d := s.padding
	switch len(d) {
	case 1:
		return image.Rect(-d[0], -d[0], w+d[0], h+d[0])
	case 2:
		return image.Rect(-d[0], -d[1], w+d[0], h+d[1])
	}
	return image.Rect(-d[0], -d[1], w+d[2], h+d[3])
}

func (s padding) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	size := s.frame(w, h).Size()
	return size.X, size.Y
}

func (s padding) Move(e *engine.Engine, _ *rand.Rand) error {
	return s.around(e, s.frame(e.Size()))
}

// around pads the image to frame.
func (s padding) around(e *engine.Engine, frame image.Rectangle) error {
	if s.mode == Constant || frame.Size() == e.View.Canvas {
		return e.Crop(frame, s.colour)
	}
	if err := e.Check(frame.Dx(), frame.Dy()); err != nil {
		return err
	}
	if err := e.Render(); err != nil {
		return err
	}
	e.Frame.Pad(frame, raster.PadMode(s.mode))
	e.Moved()
	e.Annotations.Pad(frame, raster.PadMode(s.mode))
	return nil
}
