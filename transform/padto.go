package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
)

// PadTo makes images of varying sizes size×size, or height×width: what is missing at the right
// and at the bottom becomes 0 in the result. So it comes after [ToTensor], and
// [Normalize] does not change its zeros. An image that is larger is an error.
func PadTo[S Size](size S) Step { return padTo{named("PadTo", size), extentOf(size)} }

type padTo struct {
	*call
	size extent
}

func (s padTo) add(p *program) error {
	if err := s.size.check(); err != nil {
		return err
	}
	if err := p.notNested(); err != nil {
		return err
	}
	o := &p.output
	switch {
	case !o.tensor:
		return errors.New("must come after ToTensor or PILToTensor")
	case o.blanks:
		return errors.New("must come only once")
	}
	o.blanks = true
	o.calls = append(o.calls, s.String())
	p.ops = append(p.ops, moving{s})
	return nil
}

func (s padTo) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s padTo) move(e *engine, _ *rand.Rand) error {
	w, h := e.Size()
	if w > s.size.w || h > s.size.h {
		return fmt.Errorf("transform: %v: the image has %s", s, figures.Pixels(w, h))
	}
	e.shown = image.Pt(w, h)
	return e.crop(image.Rect(0, 0, s.size.w, s.size.h), [3]uint8{})
}

// blank calls zero with the ranges of values that PadTo added to an image of that
// size.
func (o *output) blank(shown image.Point, zero func(from, to int)) {
	if !o.blanks {
		return
	}
	planes, pixel := o.channels, 1
	if !o.planar() {
		planes, pixel = 1, o.channels
	}
	row := o.w * pixel
	for c := range planes {
		for y := range shown.Y {
			line := (c*o.h + y) * row
			zero(line+shown.X*pixel, line+row)
		}
		zero((c*o.h+shown.Y)*row, (c+1)*o.h*row)
	}
}
