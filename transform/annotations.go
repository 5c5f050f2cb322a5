package transform

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// annotations are the masks, boxes and keypoints of one sample. Every geometry moves
// them as it moves the image. Boxes and keypoints are moved in the batch's memory.
// How masks move is collected, and one pass stores them. A nil *annotations is an
// image alone.
type annotations struct {
	layout
	program  *program
	spec     dataset.Spec // of the dataset
	dst      dataset.Slot
	w, h     int // the image's size now
	format   BoxFormat
	box      []float32
	kept     []int32 // which boxes of the sample are left
	outside  []int32 // boxes that RandomIoUCrop empties
	points   []pointSet
	masks    []maskSource
	moved    track
	plane    []byte // memory to warp a mask
	from, to raster.Image
}

// pointSet are keypoints: every step-th two numbers are x and y.
type pointSet struct {
	xy   []float32
	step int
}

// newAnnotations makes annotations of samples with this spec. Those of a view read the masks
// of the first view, others have nil.
func newAnnotations(l layout, p *program, spec dataset.Spec, first *annotations) *annotations {
	a := &annotations{layout: l, program: p, spec: spec}
	a.points = make([]pointSet, len(l.points))
	a.masks = make([]maskSource, len(l.masks))
	for k, m := range l.masks {
		s := &a.masks[k]
		if first != nil {
			s.cell, s.file = first.masks[k].cell, first.masks[k].file
			continue
		}
		s.cell, s.file, s.owner = dataset.NewCell(spec[m.field]), &source.Mask{Codecs: p.codecs}, true
	}
	return a
}

// inputs lets the dataset place masks in memory of this reader. All else is moved
// where it is placed.
func (a *annotations) inputs(cells []dataset.Cell) {
	if a == nil {
		return
	}
	for k := range a.masks {
		cells[a.layout.masks[k].field] = a.masks[k].cell
	}
}

// Begin starts with the annotations of the image that l has begun with. The dataset
// has placed them.
func (a *annotations) Begin(l *lane, dst dataset.Slot) error {
	if a == nil {
		return nil
	}
	a.dst = dst
	a.w, a.h = l.engine.Size()
	a.moved.Begin()
	if a.layout.boxes >= 0 {
		a.box = dense.Values[float32](dst.Cell(a.layout.boxes).Bytes())
		a.format = a.program.annotated.boxes[0].format
		n := len(a.box) / 4
		a.kept = a.kept[:0]
		for k := range n {
			a.kept = append(a.kept, int32(k))
		}
		if err := a.checkRows(a.rows, n, "boxes"); err != nil {
			return err
		}
	}
	for k, at := range a.layout.points {
		xy := dense.Values[float32](dst.Cell(at.field).Bytes())
		a.points[k] = pointSet{xy, at.step}
		if err := a.checkRows(at.rows, len(xy)/at.size, "groups of keypoints"); err != nil {
			return err
		}
	}
	for k := range a.masks {
		if err := a.masks[k].Begin(a, &a.layout.masks[k]); err != nil {
			return fmt.Errorf("transform: mask %q: %w", a.spec[a.layout.masks[k].field].Name, err)
		}
	}
	return nil
}

// checkRows is the error of fields that do not have n rows.
func (a *annotations) checkRows(fields []int, n int, of string) error {
	for _, f := range fields {
		if have := len(a.dst.Cell(f).Bytes()) / a.spec[f].Bytes(); have != n {
			return fmt.Errorf("transform: field %q has %d rows for %d %s", a.spec[f].Name, have, n, of)
		}
	}
	return nil
}

// crop cuts out r, which may reach beyond the image.
func (a *annotations) crop(r image.Rectangle) {
	if a == nil {
		return
	}
	left, top := float32(r.Min.X), float32(r.Min.Y)
	a.shift(-left, -top)
	a.moved.crop(r, a.w, a.h)
	a.w, a.h = r.Dx(), r.Dy()
	a.clampBoxes()
}

// pad is crop to a frame around the image that is filled as mode says.
func (a *annotations) pad(frame image.Rectangle, mode PadMode) {
	if a == nil {
		return
	}
	a.shift(float32(-frame.Min.X), float32(-frame.Min.Y))
	a.moved.pad(frame, a.w, a.h, mode)
	a.w, a.h = frame.Dx(), frame.Dy()
}

func (a *annotations) shift(x, y float32) {
	for b := a.box; len(b) >= 4; b = b[4:] {
		b[0] += x
		b[1] += y
		if a.format == XYXY {
			b[2] += x
			b[3] += y
		}
	}
	for _, p := range a.points {
		for k := 0; k+p.step <= len(p.xy); k += p.step {
			p.xy[k] += x
			p.xy[k+1] += y
		}
	}
}

// resize scales the image to w×h.
func (a *annotations) resize(w, h int) {
	if a == nil {
		return
	}
	x, y := float32(float64(w)/float64(a.w)), float32(float64(h)/float64(a.h))
	for b := a.box; len(b) >= 4; b = b[4:] {
		b[0] *= x
		b[1] *= y
		b[2] *= x
		b[3] *= y
	}
	for _, p := range a.points {
		for k := 0; k+p.step <= len(p.xy); k += p.step {
			p.xy[k] *= x
			p.xy[k+1] *= y
		}
	}
	a.moved.resize(a.w, a.h, w, h)
	a.w, a.h = w, h
}

// flip mirrors the image left to right, or top to bottom. As in torchvision, a
// pixel's keypoint is its column, and the edges of a box lie between pixels.
func (a *annotations) flip(vertical bool) {
	if a == nil {
		return
	}
	axis, n := 0, a.w
	if vertical {
		axis, n = 1, a.h
	}
	size := float32(n)
	for b := a.box; len(b) >= 4; b = b[4:] {
		switch a.format {
		case XYXY:
			b[axis], b[axis+2] = -(b[axis+2] - size), -(b[axis] - size)
		case XYWH:
			b[axis] = -(float32(b[axis]+b[axis+2]) - size)
		case CXCYWH:
			b[axis] = -(b[axis] - size)
		}
	}
	for _, p := range a.points {
		for k := axis; k < len(p.xy); k += p.step {
			p.xy[k] = -(p.xy[k] - float32(n-1))
		}
	}
	a.moved.flip(axis, n)
}

// store writes the masks. The boxes and keypoints are in the slot already.
func (a *annotations) store() error {
	if a == nil {
		return nil
	}
	a.moved.indices(a.w, a.h)
	for k := range a.masks {
		if err := a.masks[k].store(a, &a.layout.masks[k]); err != nil {
			return fmt.Errorf("transform: mask %q: %w", a.spec[a.layout.masks[k].field].Name, err)
		}
	}
	return nil
}
