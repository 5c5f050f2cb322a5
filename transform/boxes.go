package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
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

func (f BoxFormat) Check() error {
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
		if err := errors.Join(format.Check(), checkRows(field, c.rows)); err != nil {
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

// A marking is a step that changes annotations and not the image.
type marking struct {
	text string
	mark func(a *engine.Annotations)
}

func (s marking) String() string { return s.text }

func (s marking) Do(e *engine.Engine, _ *rand.Rand) error {
	s.mark(e.Annotations)
	return nil
}

// marks adds a step that changes boxes.
func (p *program) marks(text string, mark func(a *engine.Annotations)) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	p.endRun()
	p.lines = append(p.lines, "boxes     "+text)
	p.Ops = append(p.Ops, marking{text, mark})
	return nil
}

// ConvertBoundingBoxFormat changes the format of the boxes, which stay float32 (n, 4):
// torchvision's ConvertBoundingBoxFormat. It needs boxes.
func ConvertBoundingBoxFormat(to BoxFormat) Step {
	c := named("ConvertBoundingBoxFormat", to)
	return simple{c, func(p *program) error {
		if err := to.Check(); err != nil {
			return err
		}
		p.annotated.format = to
		return p.marks(c.String(), func(a *engine.Annotations) { a.Convert(engine.BoxFormat(to)) })
	}}
}

// ClampBoundingBoxes clamps the boxes to the image: torchvision's ClampBoundingBoxes with its
// default mode. Crops and pads do that already, so it is for boxes that the dataset itself
// lets reach beyond it. It needs boxes.
func ClampBoundingBoxes() Step {
	c := named("ClampBoundingBoxes")
	return simple{c, func(p *program) error { return p.marks(c.String(), (*engine.Annotations).ClampBoxes) }}
}
