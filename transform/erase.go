package transform

import (
	"errors"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
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
	usual := arguments{scale: engine.Span{Least: 0.02, Greatest: 0.33}, ratio: engine.Span{Least: 0.3, Greatest: 3.3}}
	return eraser{calling("RandomErasing", keyScale|keyRatio|keyValue|keyNoise, usual, options, p), p}
}

type eraser struct {
	*call
	p float64
}

func (s eraser) add(p *program) error {
	err := errors.Join(p.notNested(), p.Output.BeforeOwn(), figures.CheckProbability(s.p))
	switch n := len(s.value); {
	case err != nil:
		return err
	case s.scale.Greatest > 1:
		return errors.New("want a Scale up to 1")
	case s.value != nil && n != 1 && n != p.Output.Channels:
		return errors.New("want a Value per channel, or one for all")
	case s.noise && s.value != nil:
		return errors.New("want a Value or RandomValue, not both")
	case !p.Output.Float:
		return errors.New("must come after ToTensor")
	}
	p.Output.Erasings = append(p.Output.Erasings, engine.Erasing{P: s.p, Scale: s.scale, Ratio: s.ratio, Value: s.value, Noise: s.noise})
	p.Output.Calls = append(p.Output.Calls, s.String())
	return nil
}
