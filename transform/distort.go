package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomChannelPermutation exchanges the three channels at random, as torchvision does, or with
// [Depth16] all channels.
func RandomChannelPermutation() Step { return permutation{} }

type permutation struct{}

func (permutation) String() string         { return "RandomChannelPermutation()" }
func (s permutation) add(p *program) error { return p.edit(s) }

func (permutation) edit(e *engine, r *rand.Rand) error {
	e.permute(r)
	return nil
}

// permute exchanges the channels at random.
func (e *engine) permute(r *rand.Rand) {
	e.channels = e.channels[:0]
	for c := range e.frame.Channels() {
		e.channels = append(e.channels, c)
	}
	for i := len(e.channels) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		e.channels[i], e.channels[j] = e.channels[j], e.channels[i]
	}
	e.frame.Permute(e.channels)
}

// RandomPhotometricDistort changes brightness, contrast, saturation and hue and permutes the
// channels, each with probability p: torchvision's RandomPhotometricDistort, which SSD is
// trained with. Torchvision's default for p is 0.5. The changes are those of [ColorJitter],
// with PIL's bits. With [Depth16] images have 1 or 3 channels.
func RandomPhotometricDistort(p float64) Distortion {
	return Distortion{p: p, brightness: span{0.875, 1.125}, contrast: span{0.5, 1.5}, saturation: span{0.5, 1.5}, hue: span{-0.05, 0.05}}
}

// Distortion is the step that [RandomPhotometricDistort] makes.
type Distortion struct {
	p                                     float64
	brightness, contrast, saturation, hue span
}

// Brightness sets the range of the factor of brightness. The default is 0.875 to 1.125.
func (s Distortion) Brightness(least, greatest float64) Distortion {
	s.brightness = span{least, greatest}
	return s
}

// Contrast sets the range of the factor of contrast. The default is 0.5 to 1.5.
func (s Distortion) Contrast(least, greatest float64) Distortion {
	s.contrast = span{least, greatest}
	return s
}

// Saturation sets the range of the factor of saturation. The default is 0.5 to 1.5.
func (s Distortion) Saturation(least, greatest float64) Distortion {
	s.saturation = span{least, greatest}
	return s
}

// Hue sets the range by which hue is rotated, in parts of the colour circle, within -0.5 to 0.5.
// The default is -0.05 to 0.05.
func (s Distortion) Hue(least, greatest float64) Distortion {
	s.hue = span{least, greatest}
	return s
}

// String prints the call that made the step.
func (s Distortion) String() string {
	text := steps.Call("RandomPhotometricDistort", s.p)
	usual := RandomPhotometricDistort(s.p)
	for _, x := range []struct {
		name       string
		got, usual span
	}{
		{".Brightness", s.brightness, usual.brightness}, {".Contrast", s.contrast, usual.contrast},
		{".Saturation", s.saturation, usual.saturation}, {".Hue", s.hue, usual.hue},
	} {
		if x.got != x.usual {
			text += x.got.call(x.name)
		}
	}
	return text
}

func (s Distortion) add(p *program) error {
	if err := steps.CheckProbability(s.p); err != nil {
		return err
	}
	for _, x := range [3]span{s.brightness, s.contrast, s.saturation} {
		if !(x.least >= 0 && x.least <= x.greatest && x.greatest < math.MaxFloat32) {
			return errors.New("want finite factors, 0 or more, with the least number first")
		}
	}
	if !(s.hue.least >= -0.5 && s.hue.least <= s.hue.greatest && s.hue.greatest <= 0.5) {
		return errors.New("want a Hue from -0.5 to 0.5, with the least number first")
	}
	if err := p.greyOrRGB(); err != nil {
		return err
	}
	return p.edit(s)
}

func (s Distortion) edit(e *engine, r *rand.Rand) error {
	factors, does, order := s.draw(r)
	for _, i := range order {
		if does[i] {
			raster.Adjust(e.frame, i, factors[i])
		}
	}
	if r.Float64() < s.p {
		e.permute(r)
	}
	return nil
}

// draw draws the factors of the adjusters, which of them are used, and their order: contrast
// comes before saturation and hue, or after them.
func (s Distortion) draw(r *rand.Rand) (factors [4]float64, does [4]bool, order [4]int) {
	for i, x := range [4]span{s.brightness, s.contrast, s.saturation, s.hue} {
		does[i] = r.Float64() < s.p
		factors[i] = x.draw(r)
	}
	if r.IntN(2) == 0 {
		return factors, does, [4]int{0, 1, 2, 3}
	}
	return factors, does, [4]int{0, 2, 3, 1}
}
