package transform

import "errors"

// KeyPoints says that a field holds points of the image: all steps move them with
// it, as torchvision moves tv_tensors.KeyPoints. The field is float32, ragged or
// not, and its last dimension holds x and y, or x, y and a third number that stays
// (COCO's visibility). Points are not clamped. If they belong to boxes, name the
// field in [BoxField.With]. It must come before all steps that change the image.
func KeyPoints(field string) PointField { return PointField{field} }

// PointField is the step that [KeyPoints] makes.
type PointField struct{ field string }

// String prints the call that made the step.
func (s PointField) String() string { return fieldCall("KeyPoints", s.field) }

func (s PointField) add(p *program) error {
	if err := p.declare(s.field); err != nil {
		return err
	}
	p.annotated.points = append(p.annotated.points, s)
	p.plan = append(p.plan, "move      "+s.String())
	return nil
}

// pointsAt is a field of keypoints, and how many numbers there are per point.
type pointsAt struct{ field, step int }

// ClampKeyPoints clamps the keypoints to the image: x to 0 … width-1 and y to
// 0 … height-1, as torchvision does. It needs [KeyPoints].
func ClampKeyPoints() Step {
	const text = "ClampKeyPoints()"
	return setting{text, func(p *program) error {
		if len(p.annotated.points) == 0 {
			return errors.New("want KeyPoints before it")
		}
		if err := p.beforeTensor(); err != nil {
			return err
		}
		p.endRun()
		p.plan = append(p.plan, "points    "+text)
		p.ops = append(p.ops, marking{text, func(a *annotations) {
			w, h := float32(a.w-1), float32(a.h-1)
			for _, s := range a.points {
				for k := 0; k+s.step <= len(s.xy); k += s.step {
					s.xy[k], s.xy[k+1] = clamped(s.xy[k], w), clamped(s.xy[k+1], h)
				}
			}
		}})
		return nil
	}}
}
