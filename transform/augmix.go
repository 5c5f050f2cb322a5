package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// AugMix mixes the image with three others made from it by chains of one to three random
// augmentations each, as torchvision's AugMix does (Hendrycks et al., "AugMix: A Simple Data
// Processing Method to Improve Robustness and Uncertainty", 2020).
//
// The augmentations are those of PIL, bit for bit; torchvision uses its tensors' ones, which
// differ at the edges of moved images. The weights and the mixture are torchvision's: in
// float32, and rounded down.
func AugMix() AugMixing {
	return AugMixing{severity: 3, width: 3, alpha: 1}
}

// AugMixing is the step that [AugMix] makes.
type AugMixing struct {
	severity, width, depth int
	alpha                  float64
	few                    bool
	painter                painter
}

// Severity sets the number of magnitudes, 1 to 10, from which one is drawn. The default is 3.
func (s AugMixing) Severity(n int) AugMixing {
	s.severity = n
	return s
}

// Width sets the number of chains. The default is 3.
func (s AugMixing) Width(n int) AugMixing {
	s.width = n
	return s
}

// Depth sets the number of augmentations in a chain. The default, 0, is a random number from 1
// to 3 for each chain.
func (s AugMixing) Depth(n int) AugMixing {
	s.depth = n
	return s
}

// Alpha sets the parameter of the distributions of the weights, Dirichlet's. The default is 1.
func (s AugMixing) Alpha(a float64) AugMixing {
	s.alpha = a
	return s
}

// FewOps leaves out brightness, colour, contrast and sharpness: torchvision's all_ops=False.
func (s AugMixing) FewOps() AugMixing {
	s.few = true
	return s
}

// Filter sets the filter of moved pixels: [Nearest], [Bilinear] or [Bicubic]. The default is
// Bilinear, as in torchvision.
func (s AugMixing) Filter(f Filter) AugMixing {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s AugMixing) Fill(r, g, b uint8) AugMixing {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s AugMixing) String() string {
	text := "AugMix()"
	if s.severity != 3 {
		text += steps.Call(".Severity", s.severity)
	}
	if s.width != 3 {
		text += steps.Call(".Width", s.width)
	}
	if s.depth != 0 {
		text += steps.Call(".Depth", s.depth)
	}
	if s.alpha != 1 {
		text += steps.Call(".Alpha", s.alpha)
	}
	if s.few {
		text += ".FewOps()"
	}
	return text + s.painter.options(Bilinear)
}

func (s AugMixing) add(p *program) error {
	switch {
	case s.severity < 1 || s.severity > mixBins:
		return errors.New("want a severity from 1 to 10")
	case s.width < 1 || s.width > maxSide:
		return errors.New("want a width of 1 or more")
	case s.depth < 0:
		return errors.New("want a depth of 0 or more")
	case !(s.alpha > 0 && s.alpha <= maxSide):
		return errors.New("want a finite alpha above 0")
	}
	if err := s.painter.check(); err != nil {
		return err
	}
	return p.editAlone(s)
}

// mixBins is the number of magnitudes, of which a severity uses the first ones.
const mixBins = 10

func (s AugMixing) edit(e *engine, r *rand.Rand) error {
	w, h := e.size()
	e.weights = s.draw(e.weights, r)
	e.frame.MixBegin(e.weights[0])
	for _, weight := range e.weights[1:] {
		e.frame.MixAgain()
		depth := s.depth
		if depth == 0 {
			depth = 1 + r.IntN(3)
		}
		for range depth {
			a, magnitude := s.augmentation(w, h, r)
			a.Apply(e.frame, magnitude, s.painter.raster())
		}
		e.frame.MixAdd(weight)
	}
	e.frame.MixEnd()
	return nil
}

// augmentation draws one for a chain, for an image of w×h.
func (s AugMixing) augmentation(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
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

// draw draws the weights of the image and of the chains, which add up to 1.
func (s AugMixing) draw(weights []float32, r *rand.Rand) []float32 {
	own, others := math.Exp(logGamma(s.alpha, r)), math.Exp(logGamma(s.alpha, r))
	rest := 1.0
	if own+others > 0 {
		rest = others / (own + others)
	}
	weights = append(weights[:0], float32(1-rest))
	total := 0.0
	for range s.width {
		g := math.Exp(logGamma(s.alpha, r))
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
