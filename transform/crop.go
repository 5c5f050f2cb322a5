package transform

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// CenterCrop cuts out the middle of the image: torchvision's CenterCrop, with its rounding. As
// there, an image that is smaller is first padded: with [Fill], by default black. The option
// [Floor] rounds as Hugging Face's transformers does.
func CenterCrop[S Size](size S, options ...Option) Step {
	return centerCropping{calling("CenterCrop", keyFill|keyFloor, arguments{}, options, size), extentOf(size)}
}

type centerCropping struct {
	*call
	size extent
}

func (s centerCropping) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	return p.geometry(s, crops)
}

func (s centerCropping) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s centerCropping) Move(e *engine.Engine, _ *rand.Rand) error {
	w, h := e.Size()
	left, top := centred(w, s.size.w), centred(h, s.size.h)
	if s.floor {
		left, top = (w-s.size.w)>>1, (h-s.size.h)>>1
	}
	return e.Crop(image.Rect(left, top, left+s.size.w, top+s.size.h), s.colour)
}

// centred is where a crop begins in n pixels. If pixels are left over, it is half
// of their number, rounded to even. If pixels are missing, it is minus half of
// their number, rounded towards zero.
func centred(n, crop int) int {
	if crop > n {
		return -((crop - n) / 2)
	}
	begin := (n - crop) / 2
	if (n-crop)%2 == 1 {
		begin += begin % 2
	}
	return begin
}

// Crop cuts out height×width pixels that begin at row top and column left, as
// torchvision's functional crop does. Pixels outside the image are black.
func Crop(top, left, height, width int) Step {
	return crop{named("Crop", top, left, height, width), top, left, extent{height, width, false}}
}

type crop struct {
	*call
	top, left int
	size      extent
}

func (s crop) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	return p.geometry(s, crops)
}

func (s crop) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s crop) Move(e *engine.Engine, _ *rand.Rand) error {
	return e.Crop(image.Rect(s.left, s.top, s.left+s.size.w, s.top+s.size.h), [3]uint8{})
}

// RandomCrop cuts out a random part of the image: torchvision's RandomCrop. An image that is smaller
// makes the sample an error, unless [PadIfNeeded] is there.
//
// [Padding] pads the image before, as [Pad] does, with [Fill] and [PaddingMode].
func RandomCrop[S Size](size S, options ...Option) Step {
	c := calling("RandomCrop", keyPadding|keyPadIfNeeded|keyFill|keyPaddingMode, arguments{}, options, size)
	return randomCropping{padding{c}, extentOf(size)}
}

type randomCropping struct {
	padding
	size extent
}

func (s randomCropping) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	if s.mode != Constant {
		if err := p.annotated.rigid(); err != nil {
			return err
		}
	}
	if s.has(keyPadding | keyPadIfNeeded) {
		return p.geometry(s, pads)
	}
	return p.geometry(s, crops)
}

func (s randomCropping) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s randomCropping) Move(e *engine.Engine, r *rand.Rand) error {
	if s.has(keyPadding) {
		if err := s.padding.Move(e, r); err != nil {
			return err
		}
	}
	w, h := e.Size()
	cw, ch := s.size.w, s.size.h
	if s.needed {
		dx, dy := max(cw-w, 0), max(ch-h, 0)
		if err := s.around(e, image.Rect(-dx, -dy, w+dx, h+dy)); err != nil {
			return err
		}
		w, h = e.Size()
	}
	if cw > w || ch > h {
		return fmt.Errorf("transform: %v: the image has only %s", s, figures.Pixels(w, h))
	}
	top := r.IntN(h - ch + 1)
	left := r.IntN(w - cw + 1)
	return e.Crop(image.Rect(left, top, left+cw, top+ch), [3]uint8{})
}

// RandomHorizontalFlip mirrors the image left to right with probability p.
// Torchvision's default for p is 0.5.
func RandomHorizontalFlip(p float64) Step { return flip{named("RandomHorizontalFlip", p), p, false} }

// RandomVerticalFlip mirrors the image top to bottom with probability p.
// Torchvision's default for p is 0.5.
func RandomVerticalFlip(p float64) Step { return flip{named("RandomVerticalFlip", p), p, true} }

type flip struct {
	*call
	p    float64
	down bool // top to bottom
}

func (s flip) add(p *program) error {
	if err := figures.CheckProbability(s.p); err != nil {
		return err
	}
	return p.geometry(s, moves)
}

func (s flip) after(w, h int) (int, int) { return w, h }

func (s flip) Move(e *engine.Engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	e.Flip(s.down)
	return nil
}
