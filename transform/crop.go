package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// CenterCrop cuts out the middle of the image: CenterCrop(s) gives s×s pixels,
// CenterCrop(h, w) gives h×w. As in torchvision, an image that is smaller is first
// padded with black. Rounding is torchvision's too.
func CenterCrop(size ...int) CenterCropping { return CenterCropping{size: size} }

// CenterCropping is the step that [CenterCrop] makes.
type CenterCropping struct {
	size []int
	fill [3]uint8
	down bool
}

// Fill sets the colour of the padding. The default is black.
func (s CenterCropping) Fill(r, g, b uint8) CenterCropping {
	s.fill = [3]uint8{r, g, b}
	return s
}

// Floor rounds the corner of the crop down to a whole pixel, as Hugging Face's
// transformers does. Where an odd number of pixels is missing, one more is added
// at the top or left.
func (s CenterCropping) Floor() CenterCropping {
	s.down = true
	return s
}

// String prints the call that made the step.
func (s CenterCropping) String() string {
	text := steps.Call("CenterCrop", steps.Anys(s.size)...)
	if s.fill != [3]uint8{} {
		text += steps.Call(".Fill", s.fill[0], s.fill[1], s.fill[2])
	}
	if s.down {
		text += ".Floor()"
	}
	return text
}

func (s CenterCropping) add(p *program) error {
	if _, _, err := extent(s.size); err != nil {
		return err
	}
	return p.geometry(s, crops)
}

func (s CenterCropping) after(_, _ int) (w, h int) {
	h, w, _ = extent(s.size)
	return w, h
}

func (s CenterCropping) move(e *engine, _ *rand.Rand) error {
	w, h := e.size()
	cw, ch := s.after(w, h)
	left, top := centred(w, cw), centred(h, ch)
	if s.down {
		left, top = (w-cw)>>1, (h-ch)>>1
	}
	return e.crop(image.Rect(left, top, left+cw, top+ch), s.fill)
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
func Crop(top, left, height, width int) Step { return crop{top, left, height, width} }

type crop struct{ top, left, height, width int }

func (s crop) String() string { return steps.Call("Crop", s.top, s.left, s.height, s.width) }

func (s crop) add(p *program) error {
	if _, _, err := extent([]int{s.height, s.width}); err != nil {
		return err
	}
	return p.geometry(s, crops)
}

func (s crop) after(_, _ int) (w, h int) { return s.width, s.height }

func (s crop) move(e *engine, _ *rand.Rand) error {
	return e.crop(image.Rect(s.left, s.top, s.left+s.width, s.top+s.height), [3]uint8{})
}

// RandomCrop cuts out a random part of the image: RandomCrop(s) gives s×s pixels,
// RandomCrop(h, w) gives h×w. An image that is smaller makes the sample an error,
// unless [RandomCropping.PadIfNeeded] is set.
func RandomCrop(size ...int) RandomCropping { return RandomCropping{size: size} }

// RandomCropping is the step that [RandomCrop] makes.
type RandomCropping struct {
	size   []int
	pad    Padding
	needed bool
}

// Padding pads the image before the crop. The arguments are those of [Pad].
func (s RandomCropping) Padding(widths ...int) RandomCropping {
	s.pad.widths = widths
	return s
}

// Fill sets the colour of the padding. The default is black.
func (s RandomCropping) Fill(r, g, b uint8) RandomCropping {
	s.pad.fill = [3]uint8{r, g, b}
	return s
}

// Mode sets how the padding is filled. The default is [Constant].
func (s RandomCropping) Mode(m PadMode) RandomCropping {
	s.pad.mode = m
	return s
}

// PadIfNeeded pads images that are smaller than the crop. As in torchvision, each
// of the two sides gets as many pixels as are missing in all.
func (s RandomCropping) PadIfNeeded() RandomCropping {
	s.needed = true
	return s
}

// String prints the call that made the step.
func (s RandomCropping) String() string {
	text := steps.Call("RandomCrop", steps.Anys(s.size)...)
	if s.pad.widths != nil {
		text += steps.Call(".Padding", steps.Anys(s.pad.widths)...)
	}
	if s.needed {
		text += ".PadIfNeeded()"
	}
	return text + s.pad.options()
}

func (s RandomCropping) add(p *program) error {
	_, _, err := extent(s.size)
	if s.pad.widths != nil {
		err = errors.Join(err, s.pad.check())
	}
	if err != nil {
		return err
	}
	if s.pad.mode != Constant {
		if err := p.annotated.rigid(); err != nil {
			return err
		}
	}
	if s.pad.widths != nil || s.needed {
		return p.geometry(s, pads)
	}
	return p.geometry(s, crops)
}

func (s RandomCropping) after(_, _ int) (w, h int) {
	h, w, _ = extent(s.size)
	return w, h
}

func (s RandomCropping) move(e *engine, r *rand.Rand) error {
	if s.pad.widths != nil {
		if err := s.pad.move(e, r); err != nil {
			return err
		}
	}
	w, h := e.size()
	cw, ch := s.after(w, h)
	if s.needed {
		dx, dy := max(cw-w, 0), max(ch-h, 0)
		if err := s.pad.around(e, image.Rect(-dx, -dy, w+dx, h+dy)); err != nil {
			return err
		}
		w, h = e.size()
	}
	if cw > w || ch > h {
		return fmt.Errorf("transform: %v: the image has only %s", s, pixelsOf(w, h))
	}
	top := r.IntN(h - ch + 1)
	left := r.IntN(w - cw + 1)
	return e.crop(image.Rect(left, top, left+cw, top+ch), [3]uint8{})
}

// RandomHorizontalFlip mirrors the image left to right with probability p.
// Torchvision's default for p is 0.5.
func RandomHorizontalFlip(p float64) Step { return flip{"RandomHorizontalFlip", p, false} }

// RandomVerticalFlip mirrors the image top to bottom with probability p.
// Torchvision's default for p is 0.5.
func RandomVerticalFlip(p float64) Step { return flip{"RandomVerticalFlip", p, true} }

type flip struct {
	name     string
	p        float64
	vertical bool
}

func (s flip) String() string { return steps.Call(s.name, s.p) }

func (s flip) add(p *program) error {
	if err := steps.CheckProbability(s.p); err != nil {
		return err
	}
	return p.geometry(s, moves)
}

func (s flip) after(w, h int) (int, int) { return w, h }

func (s flip) move(e *engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	e.flip(s.vertical)
	return nil
}
