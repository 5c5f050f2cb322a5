package engine

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"math/rand/v2"

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

// toXYXY converts a box of any format, with torchvision's arithmetic.
func toXYXY(b [4]float32, f dataset.Kind) [4]float32 {
	switch f {
	case dataset.BoxesXYWH:
		b[2] += b[0]
		b[3] += b[1]
	case dataset.BoxesCXCYWH:
		b[0] -= b[2] / 2
		b[1] -= b[3] / 2
		b[2] += b[0]
		b[3] += b[1]
	}
	return b
}

// fromXYXY is the inverse of toXYXY.
func fromXYXY(b [4]float32, f dataset.Kind) [4]float32 {
	switch f {
	case dataset.BoxesXYWH:
		b[2] -= b[0]
		b[3] -= b[1]
	case dataset.BoxesCXCYWH:
		b[2] -= b[0]
		b[3] -= b[1]
		b[0] = (float32(b[0]*2) + b[2]) / 2
		b[1] = (float32(b[1]*2) + b[3]) / 2
	}
	return b
}

// convertBox changes the format of a box, with torchvision's arithmetic.
func convertBox(b [4]float32, from, to dataset.Kind) [4]float32 {
	switch {
	case from == to:
		return b
	case from == dataset.BoxesXYWH && to == dataset.BoxesCXCYWH:
		b[0] += b[2] / 2
		b[1] += b[3] / 2
		return b
	case from == dataset.BoxesCXCYWH && to == dataset.BoxesXYWH:
		b[0] -= b[2] / 2
		b[1] -= b[3] / 2
		return b
	}
	return fromXYXY(toXYXY(b, from), to)
}

// clampBox clamps a box in XYXY to an image of w×h pixels.
func clampBox(b *[4]float32, w, h int) {
	b[0], b[2] = clamped(b[0], float32(w)), clamped(b[2], float32(w))
	b[1], b[3] = clamped(b[1], float32(h)), clamped(b[3], float32(h))
}

// clamped is v from 0 to most. As in PyTorch, minus zero and NaN stay.
func clamped(v, most float32) float32 {
	switch {
	case v < 0:
		return 0
	case v > most:
		return most
	}
	return v
}

func (a *Annotations) ClampBoxes() {
	for b := a.Box; len(b) >= 4; b = b[4:] {
		v := toXYXY([4]float32(b), a.format)
		clampBox(&v, a.W, a.H)
		v = fromXYXY(v, a.format)
		copy(b, v[:])
	}
}

// Convert changes the format of the boxes.
func (a *Annotations) Convert(to dataset.Kind) {
	for b := a.Box; len(b) >= 4; b = b[4:] {
		v := convertBox([4]float32(b), a.format, to)
		copy(b, v[:])
	}
	a.format = to
}

// Sanitize removes boxes that are smaller than size or area, or reach beyond the image.
func (a *Annotations) Sanitize(size, area float32) {
	w, h := float32(a.W), float32(a.H)
	a.filter(func(b [4]float32) bool {
		b = toXYXY(b, a.format)
		bw, bh := b[2]-b[0], b[3]-b[1]
		return bw >= size && bh >= size && b[0] >= 0 && b[1] >= 0 && b[2] >= 0 && b[3] >= 0 && bw*bh >= area &&
			b[0] <= w && b[2] <= w && b[1] <= h && b[3] <= h
	})
}

// RemoveEmpty removes the boxes without area.
func (a *Annotations) RemoveEmpty() {
	if a == nil || a.Layout.Boxes < 0 {
		return
	}
	a.filter(func(b [4]float32) bool {
		b = convertBox(b, a.format, dataset.BoxesXYWH)
		return b[2] > 0 && b[3] > 0
	})
}

// filter keeps the boxes that are good, with their rows.
func (a *Annotations) filter(good func(b [4]float32) bool) {
	n := 0
	for k := range len(a.Box) / 4 {
		if good([4]float32(a.Box[4*k:])) {
			a.keep(n, k)
			n++
		}
	}
	a.truncate(n)
}

// keep makes box k box to, with its rows.
func (a *Annotations) keep(to, k int) {
	if to == k {
		return
	}
	copy(a.Box[4*to:4*to+4], a.Box[4*k:4*k+4])
	a.kept[to] = a.kept[k]
	for _, f := range a.Rows {
		a.moveRow(f, to, k)
	}
}

// moveRow makes row k of field f row to.
func (a *Annotations) moveRow(f, to, k int) {
	n, rows := a.spec[f].Bytes(), a.dst.Cell(f).Bytes()
	copy(rows[n*to:n*(to+1)], rows[n*k:n*(k+1)])
}

// truncate keeps the first n boxes.
func (a *Annotations) truncate(n int) {
	a.Box, a.kept = a.Box[:4*n], a.kept[:n]
	a.dst.Cell(a.Layout.Boxes).Grow(16 * n)
	for _, f := range a.Rows {
		a.dst.Cell(f).Grow(n * a.spec[f].Bytes())
	}
	for k, at := range a.Layout.Points {
		cell := a.dst.Cell(at.Field).Bytes()
		a.Points[k].Xy = a.Points[k].Xy[:len(cell)/4]
	}
}

func (a *Annotations) RemoveOutside() {
	for k, at := range a.Layout.Points {
		xy, n := a.Points[k].Xy, 0
		for i := 0; i+at.Size <= len(xy); i += at.Size {
			if !a.shows(xy[i:i+at.Size], at.Step) {
				continue
			}
			copy(xy[n*at.Size:(n+1)*at.Size], xy[i:i+at.Size])
			for _, f := range at.Rows {
				a.moveRow(f, n, i/at.Size)
			}
			n++
		}
		a.Points[k].Xy = xy[:n*at.Size]
		a.dst.Cell(at.Field).Grow(4 * n * at.Size)
		for _, f := range at.Rows {
			a.dst.Cell(f).Grow(n * a.spec[f].Bytes())
		}
	}
}

// shows reports whether all points are in the image.
func (a *Annotations) shows(xy []float32, step int) bool {
	w, h := float32(a.W), float32(a.H)
	for k := 0; k < len(xy); k += step {
		if x, y := xy[k], xy[k+1]; !(x >= 0 && x < w && y >= 0 && y < h) {
			return false
		}
	}
	return true
}

// ClampPoints clamps the keypoints to the image.
func (a *Annotations) ClampPoints() {
	w, h := float32(a.W-1), float32(a.H-1)
	for _, s := range a.Points {
		for k := 0; k+s.Step <= len(s.Xy); k += s.Step {
			s.Xy[k], s.Xy[k+1] = clamped(s.Xy[k], w), clamped(s.Xy[k+1], h)
		}
	}
}

// An IouCrop cuts out a part of the image that overlaps with its boxes.
type IouCrop struct {
	Scale, Ratio Span
}

func (s IouCrop) Move(e *Engine, r *rand.Rand) error {
	a := e.Annotations
	w, h := e.Size()
	if len(a.Box) == 0 {
		return nil
	}
	part, found := s.part(a, w, h, r)
	if !found {
		return nil
	}
	a.outside = a.outside[:0]
	for k := range len(a.Box) / 4 {
		if !centreIn(toXYXY([4]float32(a.Box[4*k:]), a.format), part) {
			a.outside = append(a.outside, int32(k))
		}
	}
	if err := e.Crop(part, raster.Fill{}); err != nil {
		return err
	}
	for _, k := range a.outside {
		clear(a.Box[4*k : 4*k+4])
	}
	return nil
}

// leastIoUs are what the part must have with some box: 1 leaves the image as it is.
var leastIoUs = [...]float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}

// part draws what to cut out, or that the image stays as it is. Its arithmetic is
// torchvision's, in float32 where that has tensors.
func (s IouCrop) part(a *Annotations, w, h int, r *rand.Rand) (part image.Rectangle, found bool) {
	least, more := float32(s.Scale.Least), float32(s.Scale.Greatest-s.Scale.Least)
	for range 1000 {
		iou := leastIoUs[r.IntN(len(leastIoUs))]
		if iou >= 1 {
			return image.Rectangle{}, false
		}
		for range 40 {
			dw, dh := r.Float32(), r.Float32()
			pw, ph := int(float32(w)*(least+float32(more*dw))), int(float32(h)*(least+float32(more*dh)))
			if pw < 1 || ph < 1 {
				continue
			}
			if ratio := float64(pw) / float64(ph); ratio < s.Ratio.Least || ratio > s.Ratio.Greatest {
				continue
			}
			dx, dy := r.Float32(), r.Float32()
			left, top := int(float32(w-pw)*dx), int(float32(h-ph)*dy)
			part = image.Rect(left, top, left+pw, top+ph)
			if a.overlaps(part, float32(iou)) {
				return part, true
			}
		}
	}
	return image.Rectangle{}, false
}

// overlaps reports whether a box whose centre is in part has at least that IoU with it.
func (a *Annotations) overlaps(part image.Rectangle, least float32) bool {
	for b := a.Box; len(b) >= 4; b = b[4:] {
		if v := toXYXY([4]float32(b), a.format); centreIn(v, part) && !(boxIoU(v, part) < least) {
			return true
		}
	}
	return false
}

// centreIn reports whether the centre of a box in XYXY is inside part.
func centreIn(b [4]float32, part image.Rectangle) bool {
	x, y := 0.5*(b[0]+b[2]), 0.5*(b[1]+b[3])
	return float32(part.Min.X) < x && x < float32(part.Max.X) && float32(part.Min.Y) < y && y < float32(part.Max.Y)
}

// boxIoU is the area of the intersection of a box in XYXY with part over that of their union.
func boxIoU(b [4]float32, part image.Rectangle) float32 {
	left, top := max(b[0], float32(part.Min.X)), max(b[1], float32(part.Min.Y))
	right, bottom := min(b[2], float32(part.Max.X)), min(b[3], float32(part.Max.Y))
	both := float32(max(right-left, 0) * max(bottom-top, 0))
	all := float32((b[2]-b[0])*(b[3]-b[1])) + float32(float32(part.Dx())*float32(part.Dy()))
	return both / (all - both)
}
