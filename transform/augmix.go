package transform

import (
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// AugMix mixes the image with three others made from it by chains of one to three random
// augmentations each, as torchvision's AugMix does (Hendrycks et al., "AugMix: A Simple Data
// Processing Method to Improve Robustness and Uncertainty", 2020).
//
// The augmentations are those of PIL, bit for bit; torchvision uses its tensors' ones, which
// differ at the edges of moved images. The weights and the mixture are torchvision's: in
// float32, and rounded down.
//
// [Severity] is 3 by default, [MixtureWidth] 3, [ChainDepth] -1 (random), [Alpha] 1, [AllOps] true. [Interpolation],
// of moved pixels, is [Bilinear] by default, and may be [Nearest] or [Bicubic]. [Fill] is the colour of what is
// outside the image, by default black.
func AugMix(options ...Option) Step {
	usual := arguments{severity: 3, width: 3, depth: -1, alpha: 1}
	return augMixing{calling("AugMix", keySeverity|keyMixtureWidth|keyChainDepth|keyAlpha|keyAllOps|keyInterpolation|keyFill, usual, options)}
}

type augMixing struct{ *call }

func (s augMixing) add(p *program) error {
	if err := s.paints().Check(); err != nil {
		return err
	}
	return p.editAlone(s)
}

func (s augMixing) paints() painter { return paintOf(s.call) }

// mixBins is the number of magnitudes, of which a severity uses the first ones.
const mixBins = 10

func (s augMixing) edit(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	e.Weights = s.Draw(e.Weights, r)
	e.Frame.MixBegin(e.Weights[0])
	for _, weight := range e.Weights[1:] {
		e.Frame.MixAgain()
		depth := s.depth
		if depth < 0 {
			depth = 1 + r.IntN(3)
		}
		for range depth {
			a, magnitude := s.augmentation(w, h, r)
			a.Apply(e.Frame, magnitude, s.paints().raster())
		}
		e.Frame.MixAdd(weight)
	}
	e.Frame.MixEnd()
	return nil
}

// augmentation draws one for a chain, for an image of w×h.
func (s augMixing) augmentation(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	kinds := int(raster.Equalization)
	if s.few {
		kinds -= 4
	}
	a := raster.ShearX + raster.Augmentation(r.IntN(kinds))
	if s.few && a >= raster.Brightness {
		a += 4
	}
	space := raster.MildScheme(mixBins)
	return a, space.Draw(a, r.IntN(s.severity), w, h, r)
}

// Draw draws the weights of the image and of the chains, which add up to 1.
func (s augMixing) Draw(weights []float32, r *rand.Rand) []float32 {
	own, others := math.Exp(engine.LogGamma(s.alpha, r)), math.Exp(engine.LogGamma(s.alpha, r))
	rest := 1.0
	if own+others > 0 {
		rest = others / (own + others)
	}
	weights = append(weights[:0], float32(1-rest))
	total := 0.0
	for range s.width {
		g := math.Exp(engine.LogGamma(s.alpha, r))
		total += g
		weights = append(weights, float32(g))
	}
	for i := range weights[1:] {
		if total > 0 {
			weights[1+i] = float32(float64(weights[1+i]) / total * rest)
		} else { // all are too small for a number: one of them is 1
			weights[1+i] = 0
			weights[1] = float32(rest)
		}
	}
	return weights
}
