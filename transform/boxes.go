package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
)

// A BoxFormat says what the four numbers of a box are, in pixels. The edges of
// boxes lie between pixels: the whole image of w×h is 0, 0, w, h in XYXY.
type BoxFormat uint8

// The formats, with torchvision's names.
const (
	XYXY   BoxFormat = iota // left, top, right, bottom
	XYWH                    // left, top, width, height, as COCO's
	CXCYWH                  // centre, width, height
)

// String is torchvision's name of the format.
func (f BoxFormat) String() string {
	names := [...]string{"XYXY", "XYWH", "CXCYWH"}
	if int(f) < len(names) {
		return names[f]
	}
	return "unknown"
}

func (f BoxFormat) check() error {
	if f > CXCYWH {
		return fmt.Errorf("want the format XYXY, XYWH or CXCYWH, not number %d", f)
	}
	return nil
}

// formatOf is the format of a kind of fields, if it is one of boxes.
func formatOf(k dataset.Kind) (BoxFormat, bool) {
	return BoxFormat(k - dataset.BoxesXYXY), k >= dataset.BoxesXYXY && k <= dataset.BoxesCXCYWH
}

// kind is the inverse of formatOf.
func (f BoxFormat) kind() dataset.Kind { return dataset.BoxesXYXY + dataset.Kind(f) }

// Boxes says that a field of the dataset holds bounding boxes of the image, where the dataset
// does not say it itself ([dataset.Field.Kind]): all steps move them with the image, as
// torchvision moves tv_tensors.BoundingBoxes. The field is ragged float32 with rows of 4
// numbers. Crops and pads clamp boxes to the image. Boxes that are empty then stay, until
// [SanitizeBoundingBoxes] removes them.
//
// Options: [With] names the ragged fields that have a row per box, beside those that say it in
// [dataset.Field.Of].
func Boxes(field string, format BoxFormat, options ...Option) Option {
	c := calling("Boxes", keyWith, arguments{}, options, quoted(field)[0], format)
	return declare(c, field, func(p *program) error {
		if err := errors.Join(format.check(), checkRows(field, c.rows)); err != nil {
			return err
		}
		if b := p.annotated.boxes; len(b) > 0 {
			return fmt.Errorf("must come only once: field %q holds boxes, too (dataset.Select leaves fields out)", b[0].field)
		}
		p.annotated.boxes = append(p.annotated.boxes, boxField{field, format, c.rows})
		return nil
	})
}

// boxField is a field of boxes.
type boxField struct {
	field  string
	format BoxFormat // in the dataset
	rows   []string  // fields with a row per box
}

// String prints the option that declares the field.
func (b boxField) String() string { return rowsCall("Boxes", b.field, b.rows, b.format) }

// toXYXY converts a box of any format, with torchvision's arithmetic.
func toXYXY(b [4]float32, f BoxFormat) [4]float32 {
	switch f {
	case XYWH:
		b[2] += b[0]
		b[3] += b[1]
	case CXCYWH:
		b[0] -= b[2] / 2
		b[1] -= b[3] / 2
		b[2] += b[0]
		b[3] += b[1]
	}
	return b
}

// fromXYXY is the inverse of toXYXY.
func fromXYXY(b [4]float32, f BoxFormat) [4]float32 {
	switch f {
	case XYWH:
		b[2] -= b[0]
		b[3] -= b[1]
	case CXCYWH:
		b[2] -= b[0]
		b[3] -= b[1]
		b[0] = (float32(b[0]*2) + b[2]) / 2
		b[1] = (float32(b[1]*2) + b[3]) / 2
	}
	return b
}

// convertBox changes the format of a box, with torchvision's arithmetic.
func convertBox(b [4]float32, from, to BoxFormat) [4]float32 {
	switch {
	case from == to:
		return b
	case from == XYWH && to == CXCYWH:
		b[0] += b[2] / 2
		b[1] += b[3] / 2
		return b
	case from == CXCYWH && to == XYWH:
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

func (a *annotations) clampBoxes() {
	for b := a.box; len(b) >= 4; b = b[4:] {
		v := toXYXY([4]float32(b), a.format)
		clampBox(&v, a.w, a.h)
		v = fromXYXY(v, a.format)
		copy(b, v[:])
	}
}

// A marking is a step that changes annotations and not the image.
type marking struct {
	text string
	mark func(a *annotations)
}

func (s marking) String() string { return s.text }

func (s marking) do(e *engine, _ *rand.Rand) error {
	s.mark(e.annotations)
	return nil
}

// marks adds a step that changes boxes.
func (p *program) marks(text string, mark func(a *annotations)) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	p.endRun()
	p.plan = append(p.plan, "boxes     "+text)
	p.ops = append(p.ops, marking{text, mark})
	return nil
}

// ConvertBoundingBoxFormat changes the format of the boxes, which stay float32 (n, 4):
// torchvision's ConvertBoundingBoxFormat. It needs boxes.
func ConvertBoundingBoxFormat(to BoxFormat) Step {
	c := named("ConvertBoundingBoxFormat", to)
	return simple{c, func(p *program) error {
		if err := to.check(); err != nil {
			return err
		}
		p.annotated.format = to
		return p.marks(c.String(), func(a *annotations) {
			for b := a.box; len(b) >= 4; b = b[4:] {
				v := convertBox([4]float32(b), a.format, to)
				copy(b, v[:])
			}
			a.format = to
		})
	}}
}

// ClampBoundingBoxes clamps the boxes to the image: torchvision's ClampBoundingBoxes with its
// default mode. Crops and pads do that already, so it is for boxes that the dataset itself
// lets reach beyond it. It needs boxes.
func ClampBoundingBoxes() Step {
	c := named("ClampBoundingBoxes")
	return simple{c, func(p *program) error { return p.marks(c.String(), (*annotations).clampBoxes) }}
}
