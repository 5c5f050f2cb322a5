package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomChannelPermutation exchanges the three channels at random, as torchvision does, or with
// [Depth16] all channels.
func RandomChannelPermutation() Step { return permutation{named("RandomChannelPermutation")} }

type permutation struct{ *call }

func (s permutation) add(p *program) error { return p.edit(s) }

func (permutation) edit(e *engine.Engine, r *rand.Rand) error {
	e.Permute(r)
	return nil
}

// RandomPhotometricDistort changes brightness, contrast, saturation and hue and permutes the
// channels, each with probability p: torchvision's RandomPhotometricDistort, which SSD is
// trained with. Torchvision's default for p is 0.5. The changes are those of [ColorJitter],
// with PIL's bits. With [Depth16] images have 1 or 3 channels.
//
// [Brightness], [Contrast] and [Saturation] are the ranges of factors, and [Hue] that by which hue is rotated. The
// defaults are 0.875 to 1.125, 0.5 to 1.5, 0.5 to 1.5, and -0.05 to 0.05.
func RandomPhotometricDistort(p float64, options ...Option) Step {
	usual := arguments{distort: [4]engine.Span{{Least: 0.875, Greatest: 1.125}, {Least: 0.5, Greatest: 1.5}, {Least: 0.5, Greatest: 1.5}, {Least: -0.05, Greatest: 0.05}}}
	c := calling("RandomPhotometricDistort", keyBrightnesses|keyContrasts|keySaturations|keyHues, usual, options, p)
	return distortion{c, p}
}

type distortion struct {
	*call
	p float64
}

func (s distortion) add(p *program) error {
	if err := errors.Join(figures.CheckProbability(s.p), p.greyOrRGB()); err != nil {
		return err
	}
	return p.edit(s)
}

func (s distortion) edit(e *engine.Engine, r *rand.Rand) error {
	factors, does, order := s.Draw(r)
	for _, i := range order {
		if does[i] {
			raster.Adjust(e.Frame, i, factors[i])
		}
	}
	if r.Float64() < s.p {
		e.Permute(r)
	}
	return nil
}

// Draw draws the factors of the adjusters, which of them are used, and their order: contrast
// comes before saturation and hue, or after them.
func (s distortion) Draw(r *rand.Rand) (factors [4]float64, does [4]bool, order [4]int) {
	for i, x := range s.distort {
		does[i] = r.Float64() < s.p
		factors[i] = x.Draw(r)
	}
	if r.IntN(2) == 0 {
		return factors, does, [4]int{0, 1, 2, 3}
	}
	return factors, does, [4]int{0, 2, 3, 1}
}
