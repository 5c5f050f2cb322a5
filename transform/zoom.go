package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// RandomZoomOut puts the image at a random place on a larger canvas with probability
// p, as in SSD (arXiv 1512.02325). As in torchvision, the canvas is 1 to 4 times as
// wide and high. Torchvision's default for p is 0.5.
func RandomZoomOut(p float64) ZoomingOut { return ZoomingOut{p: p, side: span{1, 4}} }

// ZoomingOut is the step that [RandomZoomOut] makes.
type ZoomingOut struct {
	p    float64
	side span
	fill [3]uint8
}

// Fill sets the colour of the canvas. The default is black. [MaskField.Fill] sets
// the number in masks.
func (s ZoomingOut) Fill(r, g, b uint8) ZoomingOut {
	s.fill = [3]uint8{r, g, b}
	return s
}

// SideRange sets how many times as wide and high as the image the canvas is. Both
// numbers are from 1 to 1048576. The default is 1 to 4.
func (s ZoomingOut) SideRange(least, greatest float64) ZoomingOut {
	s.side = span{least, greatest}
	return s
}

// String prints the call that made the step.
func (s ZoomingOut) String() string {
	text := steps.Call("RandomZoomOut", s.p)
	if s.side != (span{1, 4}) {
		text += s.side.call(".SideRange")
	}
	if s.fill != [3]uint8{} {
		text += steps.Call(".Fill", s.fill[0], s.fill[1], s.fill[2])
	}
	return text
}

func (s ZoomingOut) add(p *program) error {
	if err := errors.Join(steps.CheckProbability(s.p), s.side.check("SideRange")); err != nil {
		return err
	}
	if s.side.least < 1 || s.side.greatest > maxSide {
		return fmt.Errorf("want a SideRange from 1 to %d", maxSide)
	}
	return p.geometry(s, pads)
}

func (s ZoomingOut) after(_, _ int) (w, h int) { return 0, 0 }

func (s ZoomingOut) move(e *engine, r *rand.Rand) error {
	if r.Float64() >= s.p {
		return nil
	}
	w, h := e.size()
	side := drawn(s.side, r)
	toW, toH := int(float32(w)*side), int(float32(h)*side)
	dx, dy := r.Float32(), r.Float32()
	left, top := int(float32(toW-w)*dx), int(float32(toH-h)*dy)
	return e.crop(image.Rect(-left, -top, toW-left, toH-top), s.fill)
}

// drawn is torch.rand(1) scaled to a span: float32, like all numbers of 24 random bits.
func drawn(s span, r *rand.Rand) float32 {
	return float32(s.least) + float32(r.Float32()*float32(s.greatest-s.least))
}

// FixedSizeCrop makes images of any size height×width: it cuts out a random part of
// those that are larger, and pads those that are smaller at the right and at the
// bottom. It is the step of torchvision's detection references for large scale
// jitter, after [ScaleJitter]. If it cuts, it removes the boxes that become empty,
// with their rows and planes.
func FixedSizeCrop(height, width int) FixedCropping {
	return FixedCropping{height: height, width: width}
}

// FixedCropping is the step that [FixedSizeCrop] makes.
type FixedCropping struct {
	height, width int
	fill          [3]uint8
}

// Fill sets the colour of the padding. The default is black.
func (s FixedCropping) Fill(r, g, b uint8) FixedCropping {
	s.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s FixedCropping) String() string {
	text := steps.Call("FixedSizeCrop", s.height, s.width)
	if s.fill != [3]uint8{} {
		text += steps.Call(".Fill", s.fill[0], s.fill[1], s.fill[2])
	}
	return text
}

func (s FixedCropping) add(p *program) error {
	if _, _, err := extent([]int{s.height, s.width}); err != nil {
		return err
	}
	return p.geometry(s, pads)
}

func (s FixedCropping) after(_, _ int) (w, h int) { return s.width, s.height }

func (s FixedCropping) move(e *engine, r *rand.Rand) error {
	w, h := e.size()
	cw, ch := min(w, s.width), min(h, s.height)
	part := r.Float32() // one number for both sides, as there
	left, top := int(float32(w-cw)*part), int(float32(h-ch)*part)
	if cw != w || ch != h {
		if err := e.crop(image.Rect(left, top, left+cw, top+ch), s.fill); err != nil {
			return err
		}
		e.annotations.removeEmpty()
	}
	if cw != s.width || ch != s.height {
		return e.crop(image.Rect(0, 0, s.width, s.height), s.fill)
	}
	return nil
}

// removeEmpty removes the boxes without area.
func (a *annotations) removeEmpty() {
	if a == nil || a.layout.boxes < 0 {
		return
	}
	n := 0
	for k := range len(a.box) / 4 {
		if b := convertBox([4]float32(a.box[4*k:]), a.format, XYWH); b[2] > 0 && b[3] > 0 {
			a.keep(n, k)
			n++
		}
	}
	a.truncate(n)
}
