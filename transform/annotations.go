package transform

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/steps"
)

// An annotated says which fields of a sample move with its image.
type annotated struct {
	boxes  []BoxField // at most one
	masks  []MaskField
	points []PointField

	removes bool // SanitizeKeyPoints was there
}

func (a *annotated) any() bool { return len(a.boxes)+len(a.masks)+len(a.points) > 0 }

// rigid is the error of a step that cannot say where boxes and keypoints go.
func (a *annotated) rigid() error {
	if len(a.boxes)+len(a.points) > 0 {
		return errors.New("not with Boxes or KeyPoints: only the mode constant")
	}
	return nil
}

// still is the error of a step that moves the image alone.
func (a *annotated) still() error {
	if a.any() {
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which it does not move")
	}
	return nil
}

func (p *program) needBoxes() error {
	if len(p.annotated.boxes) == 0 {
		return errors.New("want Boxes before it")
	}
	return p.beforeTensor()
}

// declare checks a step that names a field, and that the name is new.
func (p *program) declare(field string) error {
	if field == "" {
		return errors.New("want a field's name")
	}
	for _, name := range p.names() {
		if name == field {
			return errors.New("the field is declared already")
		}
	}
	return p.first()
}

// names are the fields that have been declared.
func (a *annotated) names() []string {
	var names []string
	for _, b := range a.boxes {
		names = append(names, b.field)
	}
	for _, m := range a.masks {
		names = append(names, m.field)
	}
	for _, k := range a.points {
		names = append(names, k.field)
	}
	return names
}

// annotate finds the fields in the spec of the dataset, and returns how to read
// and store them, with the spec of the results. The result has w×h pixels.
func (p *program) annotate(spec dataset.Spec) (layout, dataset.Spec, error) {
	l := layout{boxes: -1}
	var errs []error
	wrong := func(s fmt.Stringer, format string, args ...any) {
		errs = append(errs, fmt.Errorf("transform: %v: %s", s, fmt.Sprintf(format, args...)))
	}
	find := func(s fmt.Stringer, field string) int {
		f := spec.Index(field)
		if f < 0 {
			wrong(s, "the dataset has no field %q, only %v", field, spec)
		} else if field == p.field {
			wrong(s, "that is the field of the images")
			f = -1
		}
		return f
	}
	var taken []int
	rows := func(s fmt.Stringer, names []string) (all []int) {
		for _, name := range names {
			if r := find(s, name); r >= 0 {
				if !spec[r].Ragged {
					wrong(s, "field %v: want a ragged field, with a row per element", spec[r])
				}
				if slices.Contains(taken, r) {
					wrong(s, "field %q has the rows of another field already", name)
				}
				all, taken = append(all, r), append(taken, r)
			}
		}
		return all
	}
	for _, b := range p.annotated.boxes {
		f := find(b, b.field)
		if f < 0 {
			continue
		}
		if s := spec[f]; !s.Ragged || s.Dtype != tensor.Float32 || s.Elements() != 4 {
			wrong(b, "field %v: want ragged float32 (n, 4)", s)
		}
		l.boxes = f
		l.rows = rows(b, b.rows)
	}
	for _, k := range p.annotated.points {
		f := find(k, k.field)
		if f < 0 {
			continue
		}
		s := spec[f]
		n := len(s.Shape)
		if s.Dtype != tensor.Float32 || n == 0 || s.Shape[n-1] != 2 && s.Shape[n-1] != 3 {
			wrong(k, "field %v: want float32 whose last dimension is x and y, or x, y and visibility", s)
			continue
		}
		if p.removes && (!s.Ragged || slices.Contains(l.rows, f)) {
			wrong(k, "field %v: SanitizeKeyPoints wants a ragged field that does not belong to boxes", s)
		}
		l.points = append(l.points, pointsAt{f, s.Shape[n-1], s.Elements(), rows(k, k.rows)})
	}
	for _, m := range p.annotated.masks {
		f := find(m, m.field)
		if f < 0 {
			continue
		}
		at, err := m.at(f, spec[f])
		if err != nil {
			wrong(m, "%v", err)
			continue
		}
		spec[f] = m.result(p, spec[f])
		l.masks = append(l.masks, at)
	}
	return l, spec, errors.Join(errs...)
}

// A layout says where the annotations are in a slot.
type layout struct {
	boxes  int   // -1: none
	rows   []int // fields with a row per box
	points []pointsAt
	masks  []maskAt
}

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
	from, to Image
}

// pointSet are keypoints: every step-th two numbers are x and y.
type pointSet struct {
	xy   []float32
	step int
}

func newAnnotations(l layout, p *program, spec dataset.Spec) *annotations {
	a := &annotations{layout: l, program: p, spec: spec}
	a.points = make([]pointSet, len(l.points))
	a.masks = make([]maskSource, len(l.masks))
	for k, m := range l.masks {
		a.masks[k] = maskSource{cell: dataset.NewCell(spec[m.field])}
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

// begin starts with the annotations of the image that l has begun with. The dataset
// has placed them.
func (a *annotations) begin(l *lane, dst dataset.Slot) error {
	if a == nil {
		return nil
	}
	a.dst = dst
	a.w, a.h = l.engine.size()
	a.moved.begin()
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
		if err := a.masks[k].begin(a, &a.layout.masks[k]); err != nil {
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

// fieldCall formats a step that names a field.
func fieldCall(name, field string, more ...any) string {
	return steps.Call(name, append([]any{fmt.Sprintf("%q", field)}, more...)...)
}
