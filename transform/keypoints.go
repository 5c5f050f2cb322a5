package transform

import (
	"errors"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// KeyPoints says that a field of the dataset holds points of the image, where the dataset does not
// say it itself ([dataset.Field.Kind]): all steps move them with the image, as torchvision moves
// tv_tensors.KeyPoints. The field is float32, ragged or not, and its last dimension holds x and y,
// or x, y and a third number that stays (COCO's visibility). Points are not clamped. If they belong
// to boxes, name the field in [With] of [Boxes].
//
// Options: [With] names the ragged fields that have a row per element of the field, such as labels.
// [SanitizeKeyPoints] removes their rows too.
func KeyPoints(field string, options ...Option) Option {
	c := calling("KeyPoints", keyWith, arguments{}, options, quoted(field)...)
	return declare(c, field, func(p *program) error {
		p.annotated.points = append(p.annotated.points, pointField{field, c.rows})
		return checkRows(field, c.rows)
	})
}

// pointField is a field of keypoints.
type pointField struct {
	field string
	rows  []string // fields with a row per element
}

// String prints the option that declares the field.
func (k pointField) String() string { return rowsCall("KeyPoints", k.field, k.rows) }

// SanitizeKeyPoints removes the elements of fields of [KeyPoints] in which a point is
// outside of the image, as torchvision's SanitizeKeyPoints does, together with their rows in the fields [With] them. The
// fields must be ragged, and must not belong to boxes.
func SanitizeKeyPoints() Step {
	c := named("SanitizeKeyPoints")
	return simple{c, func(p *program) error {
		p.removes = true
		return p.marksPoints(c.String(), (*engine.Annotations).RemoveOutside)
	}}
}

// ClampKeyPoints clamps the keypoints to the image: x to 0 … width-1 and y to
// 0 … height-1, as torchvision does. It needs [KeyPoints].
func ClampKeyPoints() Step {
	c := named("ClampKeyPoints")
	return simple{c, func(p *program) error {
		return p.marksPoints(c.String(), (*engine.Annotations).ClampPoints)
	}}
}

// marksPoints adds a step that changes keypoints.
func (p *program) marksPoints(text string, mark func(a *engine.Annotations)) error {
	if len(p.annotated.points) == 0 {
		return errors.New("want KeyPoints, or a dataset that says which field they are")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.endRun()
	p.lines = append(p.lines, "points    "+text)
	p.Ops = append(p.Ops, marking{text, mark})
	return nil
}
