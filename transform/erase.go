package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
)

// RandomErasing sets a random rectangle of the tensor to 0 with probability p, as
// torchvision does. It draws an area and an aspect ratio until the rectangle is
// smaller than the image in width and height. After ten draws without success it
// erases nothing. It must come after [ToTensor] and [Normalize]. Torchvision's default
// for p is 0.5.
//
// [Scale] is the least and the greatest area, as parts of the image's; the default is 0.02 to 0.33. [Ratio] is that
// of height to width; the default is 0.3 to 3.3. [Value] or [RandomValue] say what is written instead of 0.
func RandomErasing(p float64, options ...Option) Step {
	usual := arguments{scale: span{0.02, 0.33}, ratio: span{0.3, 3.3}}
	return erasing{calling("RandomErasing", keyScale|keyRatio|keyValue|keyNoise, usual, options, p), p}
}

type erasing struct {
	*call
	p float64
}

func (s erasing) add(p *program) error {
	err := errors.Join(p.notNested(), p.output.beforeOwn(), figures.CheckProbability(s.p))
	switch n := len(s.value); {
	case err != nil:
		return err
	case s.scale.greatest > 1:
		return errors.New("want a Scale up to 1")
	case s.value != nil && n != 1 && n != p.output.channels:
		return errors.New("want a Value per channel, or one for all")
	case s.noise && s.value != nil:
		return errors.New("want a Value or RandomValue, not both")
	case !p.output.float:
		return errors.New("must come after ToTensor")
	}
	p.output.erasings = append(p.output.erasings, s)
	p.output.calls = append(p.output.calls, s.String())
	return nil
}

func (t *target[T]) erase(o *output, out []T, r *rand.Rand) {
	for k := range o.erasings {
		t.eraseOnce(o, &o.erasings[k], out, r)
	}
}

func (t *target[T]) eraseOnce(o *output, s *erasing, out []T, r *rand.Rand) {
	if r.Float64() >= s.p {
		return
	}
	for range 10 {
		h, w := drawPart(o.w, o.h, s.scale, s.ratio, r)
		if h < 0 || w < 0 || h >= o.h || w >= o.w {
			continue
		}
		top := r.IntN(o.h - h + 1)
		left := r.IntN(o.w - w + 1)
		for c := range o.channels {
			for y := top; y < top+h; y++ {
				for x := left; x < left+w; x++ {
					out[o.index(c, y, x)] = t.convert(s.next(c, r))
				}
			}
		}
		return
	}
}

func (s *erasing) next(c int, r *rand.Rand) float32 {
	switch {
	case s.noise:
		return float32(r.NormFloat64())
	case s.value == nil:
		return 0
	}
	return s.value[c%len(s.value)]
}

// index is where the value of channel c at (x, y) is in the output.
func (o *output) index(c, y, x int) int {
	if o.planar() {
		return (c*o.h+y)*o.w + x
	}
	return (y*o.w+x)*o.channels + c
}
