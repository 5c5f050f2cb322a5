package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// ResizeFunc resizes an image of height×width pixels to the size that size returns, for rules
// that no other step has, such as sides that are multiples of a model's patches. The size must
// depend on nothing but the numbers, and all workers call it at the same time. The step prints as
// Resize with the rule in words. Its option is [Interpolation], by default [Bilinear]. A size below
// 1 is an error of the sample.
func ResizeFunc(rule string, size func(height, width int) (h, w int), options ...Option) Step {
	s := scaling{calling("Resize", keyInterpolation, arguments{}, options, rule), size}
	if size == nil {
		s.mistake = errors.Join(s.mistake, errors.New("the function is nil"))
	}
	return s
}

// A scaling is a resize to a size that depends on the image's in a way of its
// own.
type scaling struct {
	*call
	of func(h, w int) (int, int)
}

func (s scaling) add(p *program) error { return p.geometry(s, resizes) }

func (s scaling) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	h, w = s.of(h, w)
	return w, h
}

func (s scaling) Move(e *engine.Engine, _ *rand.Rand) error {
	w, h := e.Size()
	h, w = s.of(h, w)
	return e.Resample(w, h, resize.Filter(s.interpolation))
}
