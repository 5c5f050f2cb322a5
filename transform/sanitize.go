package transform

import (
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// SanitizeBoundingBoxes removes boxes that are smaller than [MinSize] or [MinArea], by default 1, or
// reach beyond the image, together with their rows in the fields [With] them and their planes in
// [Masks]. It needs [Boxes]. As in torchvision, [RandomIoUCrop] needs it after itself.
func SanitizeBoundingBoxes(options ...Option) Step {
	return sanitizing{calling("SanitizeBoundingBoxes", keyMinSize|keyMinArea, arguments{minSize: 1, minArea: 1}, options)}
}

type sanitizing struct{ *call }

func (s sanitizing) add(p *program) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	p.endRun()
	p.lines = append(p.lines, "boxes     "+s.String())
	p.Ops = append(p.Ops, s)
	return nil
}

func (s sanitizing) Do(e *engine.Engine, _ *rand.Rand) error {
	e.Annotations.Sanitize(float32(s.minSize), float32(s.minArea))
	return nil
}
