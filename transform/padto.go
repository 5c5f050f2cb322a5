package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
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
	if err := s.size.Check(); err != nil {
		return err
	}
	if err := p.notNested(); err != nil {
		return err
	}
	o := &p.Output
	switch {
	case !o.Tensor:
		return errors.New("must come after ToTensor or PILToTensor")
	case o.Blanks:
		return errors.New("must come only once")
	}
	o.Blanks = true
	o.Calls = append(o.Calls, s.String())
	p.Ops = append(p.Ops, moving{s})
	return nil
}

func (s padTo) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s padTo) Move(e *engine.Engine, _ *rand.Rand) error {
	w, h := e.Size()
	if w > s.size.w || h > s.size.h {
		return fmt.Errorf("transform: %v: the image has %s", s, figures.Pixels(w, h))
	}
	e.Shown = image.Pt(w, h)
	return e.Crop(image.Rect(0, 0, s.size.w, s.size.h), [3]uint8{})
}
