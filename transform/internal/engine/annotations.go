package engine

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Annotations are the masks, boxes and keypoints of one sample. Every geometry moves them as it moves the image.
// Boxes and keypoints are moved in the batch's memory. How masks move is collected, and one pass stores them. A nil
// *Annotations is an image alone.
type Annotations struct {
	Layout
	plan     *Plan
	spec     dataset.Spec // of the dataset
	dst      dataset.Slot
	W, H     int // the image's size now
	format   dataset.Kind
	Box      []float32
	kept     []int32 // which boxes of the sample are left
	outside  []int32 // boxes that RandomIoUCrop empties
	Points   []PointSet
	masks    []maskSource
	Moved    track
	plane    []byte // memory to warp a mask
	from, to raster.Image
}

// PointSet are keypoints: every step-th two numbers are x and y.
type PointSet struct {
	Xy   []float32
	Step int
}

// newAnnotations makes annotations of samples with this spec.
func newAnnotations(l Layout, p *Plan, spec dataset.Spec) *Annotations {
	a := &Annotations{Layout: l, plan: p, spec: spec}
	a.Points = make([]PointSet, len(l.Points))
	a.masks = make([]maskSource, len(l.Masks))
	for k, m := range l.Masks {
		a.masks[k].cell, a.masks[k].file = dataset.NewCell(spec[m.Field]), &source.Mask{Codecs: p.Codecs}
	}
	return a
}

// inputs lets the dataset place masks in memory of this reader. All else is moved where it is placed.
func (a *Annotations) inputs(cells []dataset.Cell) {
	if a == nil {
		return
	}
	for k := range a.masks {
		cells[a.Layout.Masks[k].Field] = a.masks[k].cell
	}
}

// Begin starts with the annotations of the image that l has begun with. The dataset has placed them.
func (a *Annotations) Begin(l *lane, dst dataset.Slot) error {
	if a == nil {
		return nil
	}
	a.dst = dst
	a.W, a.H = l.Engine.Size()
	a.Moved.Begin()
	if a.Layout.Boxes >= 0 {
		a.Box = dense.Values[float32](dst.Cell(a.Layout.Boxes).Bytes())
		a.format = a.Layout.Format
		n := len(a.Box) / 4
		a.kept = a.kept[:0]
		for k := range n {
			a.kept = append(a.kept, int32(k))
		}
		if err := a.checkRows(a.Rows, n, "boxes"); err != nil {
			return err
		}
	}
	for k, at := range a.Layout.Points {
		xy := dense.Values[float32](dst.Cell(at.Field).Bytes())
		a.Points[k] = PointSet{xy, at.Step}
		if err := a.checkRows(at.Rows, len(xy)/at.Size, "groups of keypoints"); err != nil {
			return err
		}
	}
	for k := range a.masks {
		if err := a.masks[k].Begin(a, &a.Layout.Masks[k]); err != nil {
			return fmt.Errorf("transform: mask %q: %w", a.spec[a.Layout.Masks[k].Field].Name, err)
		}
	}
	return nil
}

// checkRows is the error of fields that do not have n rows.
func (a *Annotations) checkRows(fields []int, n int, of string) error {
	for _, f := range fields {
		if have := len(a.dst.Cell(f).Bytes()) / a.spec[f].Bytes(); have != n {
			return fmt.Errorf("transform: field %q has %d rows for %d %s", a.spec[f].Name, have, n, of)
		}
	}
	return nil
}

// Crop cuts out r, which may reach beyond the image.
func (a *Annotations) Crop(r image.Rectangle) {
	if a == nil {
		return
	}
	a.Pad(r, raster.Constant)
	a.ClampBoxes()
}

// Pad is Crop to a frame that is filled as mode says, without clamping boxes.
func (a *Annotations) Pad(frame image.Rectangle, mode raster.PadMode) {
	if a == nil {
		return
	}
	a.shift(-float32(frame.Min.X), -float32(frame.Min.Y))
	a.Moved.Pad(frame, a.W, a.H, mode)
	a.W, a.H = frame.Dx(), frame.Dy()
}

func (a *Annotations) shift(x, y float32) {
	for b := a.Box; len(b) >= 4; b = b[4:] {
		b[0] += x
		b[1] += y
		if a.format == dataset.BoxesXYXY {
			b[2] += x
			b[3] += y
		}
	}
	for _, p := range a.Points {
		for k := 0; k+p.Step <= len(p.Xy); k += p.Step {
			p.Xy[k] += x
			p.Xy[k+1] += y
		}
	}
}

// resize scales the image to w×h.
func (a *Annotations) resize(w, h int) {
	if a == nil {
		return
	}
	x, y := float32(float64(w)/float64(a.W)), float32(float64(h)/float64(a.H))
	for b := a.Box; len(b) >= 4; b = b[4:] {
		b[0] *= x
		b[1] *= y
		b[2] *= x
		b[3] *= y
	}
	for _, p := range a.Points {
		for k := 0; k+p.Step <= len(p.Xy); k += p.Step {
			p.Xy[k] *= x
			p.Xy[k+1] *= y
		}
	}
	a.Moved.resize(a.W, a.H, w, h)
	a.W, a.H = w, h
}

// Flip mirrors the image left to right, or top to bottom. As in torchvision, a
// pixel's keypoint is its column, and the edges of a box lie between pixels.
func (a *Annotations) Flip(vertical bool) {
	if a == nil {
		return
	}
	axis, n := 0, a.W
	if vertical {
		axis, n = 1, a.H
	}
	size := float32(n)
	for b := a.Box; len(b) >= 4; b = b[4:] {
		switch a.format {
		case dataset.BoxesXYXY:
			b[axis], b[axis+2] = -(b[axis+2] - size), -(b[axis] - size)
		case dataset.BoxesXYWH:
			b[axis] = -(float32(b[axis]+b[axis+2]) - size)
		case dataset.BoxesCXCYWH:
			b[axis] = -(b[axis] - size)
		}
	}
	for _, p := range a.Points {
		for k := axis; k < len(p.Xy); k += p.Step {
			p.Xy[k] = -(p.Xy[k] - float32(n-1))
		}
	}
	a.Moved.Flip(axis, n)
}

// Store writes the masks. The boxes and keypoints are in the slot already.
func (a *Annotations) Store() error {
	if a == nil {
		return nil
	}
	a.Moved.indices(a.W, a.H)
	for k := range a.masks {
		if err := a.masks[k].Store(a, &a.Layout.Masks[k]); err != nil {
			return fmt.Errorf("transform: mask %q: %w", a.spec[a.Layout.Masks[k].Field].Name, err)
		}
	}
	return nil
}

// Follow moves the annotations as a warp moved the image: m says which point of it every
// point of the result shows, which has w×h pixels. Masks take the pixels that the filter [Nearest] takes.
func (a *Annotations) Follow(m *raster.Mapping, w, h int) error {
	if a == nil {
		return nil
	}
	forward := m.Inverted()
	a.carry(forward.OfPoint, forward.OfPoint, w, h)
	err := a.warpMasks(w, h, func(to, from *raster.Image, fill raster.Fill) {
		raster.Warp(to, from, m, raster.Painter{Filter: resize.Nearest, Fill: fill})
	})
	a.W, a.H = w, h
	a.Moved.Begin()
	return err
}

// carry moves the corners of the boxes and the keypoints, in an image that now has w×h pixels. A moved
// box is that around its corners.
func (a *Annotations) carry(corner, point func(x, y float32) (float32, float32), w, h int) {
	for b := a.Box; len(b) >= 4; b = b[4:] {
		v := toXYXY([4]float32(b), a.format)
		x, y := corner(v[0], v[1])
		around := [4]float32{x, y, x, y}
		for _, c := range [3][2]float32{{v[2], v[1]}, {v[2], v[3]}, {v[0], v[3]}} {
			x, y := corner(c[0], c[1])
			around = [4]float32{min(around[0], x), min(around[1], y), max(around[2], x), max(around[3], y)}
		}
		clampBox(&around, w, h)
		v = fromXYXY(around, a.format)
		copy(b, v[:])
	}
	for _, p := range a.Points {
		for k := 0; k+p.Step <= len(p.Xy); k += p.Step {
			p.Xy[k], p.Xy[k+1] = point(p.Xy[k], p.Xy[k+1])
		}
	}
}

// warpMasks makes the masks as they are now, and paints them again with w×h pixels. Numbers
// of up to 24 bits are in red, green and blue, so paint must not mix them.
func (a *Annotations) warpMasks(w, h int, paint func(to, from *raster.Image, fill raster.Fill)) error {
	if len(a.masks) == 0 {
		return nil
	}
	a.Moved.indices(a.W, a.H)
	before, after := a.W*a.H, w*h
	for k := range a.masks {
		s, fill := &a.masks[k], a.Layout.Masks[k].Outside
		colour := raster.Fill{Colour: [3]uint8{uint8(fill), uint8(fill >> 8)}}
		if err := a.checkPlanes(s.n, max(before, after)); err != nil {
			return err
		}
		if err := s.Decode(a.Moved.lastRow() + 1); err != nil {
			return err
		}
		a.plane = raster.Grow(a.plane, 4*before)
		a.from.Resize(a.W, a.H)
		a.to.Resize(w, h)
		size := s.size
		if fill > math.MaxUint8 {
			size = max(size, 2) // numbers of 8 bits do not hold the fill
		}
		s.spare = raster.Grow(s.spare, s.n*size*after)
		for p := range s.n {
			numbers := dense.Values[int32](a.plane)
			gatherFrom(s, numbers, p, &a.Moved, int32(fill))
			for i, v := range numbers {
				binary.LittleEndian.PutUint32(a.from.Pix[4*i:], uint32(v))
			}
			paint(&a.to, &a.from, colour)
			out := s.spare[p*size*after:][:size*after]
			switch size {
			case 1:
				numbersOf(&a.to, out)
			case 2:
				numbersOf(&a.to, dense.Values[uint16](out))
			case 4:
				numbersOf(&a.to, dense.Values[int32](out))
			default:
				numbersOf(&a.to, dense.Values[int64](out))
			}
		}
		s.warped, s.spare = s.spare, s.warped
		s.pix, s.w, s.h, s.size, s.coded = s.warped, w, h, size, false
	}
	return nil
}

// Displace moves the annotations as ElasticTransform moved the image, with torchvision's
// approximation of the vectors' inverse.
func (a *Annotations) Displace(f *raster.Field) error {
	if a == nil {
		return nil
	}
	w, h := a.W, a.H
	at := func(x, y float32) (float32, float32) {
		i, j := min(max(int(x), 0), w-1), min(max(int(y), 0), h-1)
		return float32(i) - f.X[w*j+i], float32(j) - f.Y[w*j+i]
	}
	ceil := func(v float32) float32 { return float32(math.Ceil(float64(v))) }
	a.carry(func(x, y float32) (float32, float32) { return at(ceil(x), ceil(y)) }, at, w, h)
	err := a.warpMasks(w, h, func(to, from *raster.Image, fill raster.Fill) {
		f.Paint(to, from, raster.Painter{Filter: resize.Nearest, Fill: fill})
	})
	a.Moved.Begin()
	return err
}

// numbersOf writes the numbers of a mask that is in red, green and blue.
func numbersOf[T uint8 | uint16 | int32 | int64](m *raster.Image, out []T) {
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint32(m.Pix[4*i:]) & maxNumber)
	}
}

// checkPlanes is the error of n masks that have more pixels than an image may have.
func (a *Annotations) checkPlanes(n, area int) error {
	if n > 1 && n > a.plan.Limit/area {
		return fmt.Errorf("transform: %d masks of %d pixels have more than the limit of %d pixels (see MaxPixels)", n, area, a.plan.Limit)
	}
	return nil
}
