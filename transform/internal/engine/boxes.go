package engine

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

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
