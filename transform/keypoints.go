package transform

import (
	"errors"
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

// pointsAt is a field of keypoints.
type pointsAt struct {
	field int
	step  int   // numbers per point
	size  int   // numbers per element
	rows  []int // fields with a row per element
}

// SanitizeKeyPoints removes the elements of fields of [KeyPoints] in which a point is
// outside of the image, as torchvision's SanitizeKeyPoints does, together with their rows in the fields [With] them. The
// fields must be ragged, and must not belong to boxes.
func SanitizeKeyPoints() Step {
	c := named("SanitizeKeyPoints")
	return simple{c, func(p *program) error {
		p.removes = true
		return p.marksPoints(c.String(), (*annotations).removeOutside)
	}}
}

func (a *annotations) removeOutside() {
	for k, at := range a.layout.points {
		xy, n := a.points[k].xy, 0
		for i := 0; i+at.size <= len(xy); i += at.size {
			if !a.shows(xy[i:i+at.size], at.step) {
				continue
			}
			copy(xy[n*at.size:(n+1)*at.size], xy[i:i+at.size])
			for _, f := range at.rows {
				a.moveRow(f, n, i/at.size)
			}
			n++
		}
		a.points[k].xy = xy[:n*at.size]
		a.dst.Cell(at.field).Grow(4 * n * at.size)
		for _, f := range at.rows {
			a.dst.Cell(f).Grow(n * a.spec[f].Bytes())
		}
	}
}

// shows reports whether all points are in the image.
func (a *annotations) shows(xy []float32, step int) bool {
	w, h := float32(a.w), float32(a.h)
	for k := 0; k < len(xy); k += step {
		if x, y := xy[k], xy[k+1]; !(x >= 0 && x < w && y >= 0 && y < h) {
			return false
		}
	}
	return true
}

// ClampKeyPoints clamps the keypoints to the image: x to 0 … width-1 and y to
// 0 … height-1, as torchvision does. It needs [KeyPoints].
func ClampKeyPoints() Step {
	c := named("ClampKeyPoints")
	return simple{c, func(p *program) error {
		return p.marksPoints(c.String(), func(a *annotations) {
			w, h := float32(a.w-1), float32(a.h-1)
			for _, s := range a.points {
				for k := 0; k+s.step <= len(s.xy); k += s.step {
					s.xy[k], s.xy[k+1] = clamped(s.xy[k], w), clamped(s.xy[k+1], h)
				}
			}
		})
	}}
}

// marksPoints adds a step that changes keypoints.
func (p *program) marksPoints(text string, mark func(a *annotations)) error {
	if len(p.annotated.points) == 0 {
		return errors.New("want KeyPoints, or a dataset that says which field they are")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.endRun()
	p.plan = append(p.plan, "points    "+text)
	p.ops = append(p.ops, marking{text, mark})
	return nil
}
