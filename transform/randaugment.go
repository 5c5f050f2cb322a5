package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandAugment applies n random augmentations of the same magnitude, as torchvision's
// RandAugment does: one of identity, shears, translations, rotation, brightness, colour,
// contrast, sharpness, posterize, solarize, autocontrast and equalize, each with equal
// probability. Magnitude is one of 31 bins, counted from 0. Torchvision's defaults are
// RandAugment(2, 9).
//
// The result is that of torchvision with PIL images, bit for bit.
func RandAugment(n, magnitude int) RandAugmenting {
	return RandAugmenting{n: n, magnitude: magnitude, bins: 31, painter: painter{filter: Nearest}}
}

// RandAugmenting is the step that [RandAugment] makes.
type RandAugmenting struct {
	n, magnitude, bins int
	painter            painter
}

// Bins sets the number of magnitudes. The default is 31.
func (s RandAugmenting) Bins(n int) RandAugmenting {
	s.bins = n
	return s
}

// Filter sets the filter of moved pixels: [Nearest], [Bilinear] or [Bicubic]. The default is
// Nearest, as in torchvision.
func (s RandAugmenting) Filter(f Filter) RandAugmenting {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s RandAugmenting) Fill(r, g, b uint8) RandAugmenting {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s RandAugmenting) String() string {
	return steps.Call("RandAugment", s.n, s.magnitude) + binsCall(s.bins) + s.painter.options(Nearest)
}

func (s RandAugmenting) add(p *program) error {
	if err := errors.Join(checkBins(s.bins), s.painter.check()); err != nil {
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

func (s RandAugmenting) edit(e *engine, r *rand.Rand) error {
	w, h := e.size()
	for range s.n {
		a, magnitude := s.draw(w, h, r)
		a.Apply(e.frame, magnitude, s.painter.raster())
	}
	return nil
}

// draw draws an augmentation and its magnitude for an image of w×h.
func (s RandAugmenting) draw(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	space := raster.UsualScheme(s.bins)
	a := raster.Augmentation(r.IntN(int(raster.Equalization) + 1))
	return a, space.Draw(a, s.magnitude, w, h, r)
}

// TrivialAugmentWide applies one random augmentation of [RandAugment] with a random magnitude,
// from wider ranges, as torchvision's TrivialAugmentWide does. The result is that of torchvision
// with PIL images, bit for bit.
func TrivialAugmentWide() TrivialAugmenting {
	return TrivialAugmenting{bins: 31, painter: painter{filter: Nearest}}
}

// TrivialAugmenting is the step that [TrivialAugmentWide] makes.
type TrivialAugmenting struct {
	bins    int
	painter painter
}

// Bins sets the number of magnitudes. The default is 31.
func (s TrivialAugmenting) Bins(n int) TrivialAugmenting {
	s.bins = n
	return s
}

// Filter sets the filter of moved pixels: [Nearest], [Bilinear] or [Bicubic]. The default is
// Nearest, as in torchvision.
func (s TrivialAugmenting) Filter(f Filter) TrivialAugmenting {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s TrivialAugmenting) Fill(r, g, b uint8) TrivialAugmenting {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s TrivialAugmenting) String() string {
	return "TrivialAugmentWide()" + binsCall(s.bins) + s.painter.options(Nearest)
}

func (s TrivialAugmenting) add(p *program) error {
	if err := errors.Join(checkBins(s.bins), s.painter.check()); err != nil {
		return err
	}
	return p.editAlone(s)
}

func (s TrivialAugmenting) edit(e *engine, r *rand.Rand) error {
	w, h := e.size()
	a, magnitude := s.draw(w, h, r)
	a.Apply(e.frame, magnitude, s.painter.raster())
	return nil
}

// draw draws an augmentation and its magnitude for an image of w×h.
func (s TrivialAugmenting) draw(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	space := raster.WideScheme(s.bins)
	a := raster.Augmentation(r.IntN(int(raster.Equalization) + 1))
	return a, space.Draw(a, r.IntN(s.bins), w, h, r)
}
