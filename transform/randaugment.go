package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandAugment applies n random augmentations of the same magnitude, as torchvision's
// RandAugment does: one of identity, shears, translations, rotation, brightness, colour,
// contrast, sharpness, posterize, solarize, autocontrast and equalize, each with equal
// probability. Magnitude is one of 31 bins, counted from 0. Torchvision's defaults are
// RandAugment(2, 9).
//
// The result is that of torchvision with PIL images, bit for bit.
//
// [NumMagnitudeBins] is 31 by default. [Interpolation], of moved pixels, is [Nearest] by default, and may be
// [Bilinear] or [Bicubic]. [Fill] is the colour of what is outside the image, by default black.
func RandAugment(n, magnitude int, options ...Option) Step {
	usual := arguments{bins: 31, interpolation: Nearest}
	return randAugmenting{calling("RandAugment", keyBins|keyInterpolation|keyFill, usual, options, n, magnitude), n, magnitude}
}

type randAugmenting struct {
	*call
	n, magnitude int
}

func (s randAugmenting) add(p *program) error {
	if err := s.paints().Check(); err != nil {
		return err
	}
	if s.n < 0 {
		return errors.New("want 0 augmentations or more")
	}
	if s.magnitude < 0 || s.magnitude >= s.bins {
		return fmt.Errorf("want a magnitude from 0 to %d", s.bins-1)
	}
	return p.editAlone(s)
}

func (s randAugmenting) paints() painter { return paintOf(s.call) }

func (s randAugmenting) edit(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	for range s.n {
		a, magnitude := s.Draw(w, h, r)
		a.Apply(e.Frame, magnitude, s.paints().raster())
	}
	return nil
}

// Draw draws an augmentation and its magnitude for an image of w×h.
func (s randAugmenting) Draw(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	space := raster.UsualScheme(s.bins)
	a := raster.Augmentation(r.IntN(int(raster.Equalization) + 1))
	return a, space.Draw(a, s.magnitude, w, h, r)
}

// TrivialAugmentWide applies one random augmentation of [RandAugment] with a random magnitude,
// from wider ranges, as torchvision's TrivialAugmentWide does. The result is that of torchvision
// with PIL images, bit for bit.
//
// [NumMagnitudeBins], [Interpolation] and [Fill] are those of RandAugment.
func TrivialAugmentWide(options ...Option) Step {
	usual := arguments{bins: 31, interpolation: Nearest}
	return trivialAugmenting{calling("TrivialAugmentWide", keyBins|keyInterpolation|keyFill, usual, options)}
}

type trivialAugmenting struct{ *call }

func (s trivialAugmenting) add(p *program) error {
	if err := s.paints().Check(); err != nil {
		return err
	}
	return p.editAlone(s)
}

func (s trivialAugmenting) paints() painter { return paintOf(s.call) }

func (s trivialAugmenting) edit(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	a, magnitude := s.Draw(w, h, r)
	a.Apply(e.Frame, magnitude, s.paints().raster())
	return nil
}

// Draw draws an augmentation and its magnitude for an image of w×h.
func (s trivialAugmenting) Draw(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	space := raster.WideScheme(s.bins)
	a := raster.Augmentation(r.IntN(int(raster.Equalization) + 1))
	return a, space.Draw(a, r.IntN(s.bins), w, h, r)
}
