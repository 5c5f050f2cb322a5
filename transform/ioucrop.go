package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// RandomIoUCrop cuts out a random part of the image that overlaps with its boxes, as
// in SSD (arXiv 1512.02325) and in torchvision. First it draws an option: to leave the
// image as it is, or the least IoU that some box must have with the part. Then it tries
// parts. A box whose centre is outside the part becomes 0, 0, 0, 0:
// [SanitizeBoundingBoxes] must come later, to remove it. It needs [Boxes]. An image
// without boxes stays as it is.
//
// [Scale] is the least and the greatest width and height of the part, as parts of the image's; the default is 0.3 to
// 1. [Ratio] is that of width to height; the default is 0.5 to 2. [SamplerOptions] are 0, 0.1, 0.3, 0.5, 0.7, 0.9 and 1
// by default, and [Trials] 40.
func RandomIoUCrop(options ...Option) Step {
	usual := arguments{scale: engine.Span{Least: 0.3, Greatest: 1}, ratio: engine.Span{Least: 0.5, Greatest: 2}, ious: []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}, trials: 40}
	return iouCropping{calling("RandomIoUCrop", keyScale|keyRatio|keySamplerOptions|keyTrials, usual, options)}
}

type iouCropping struct{ *call }

func (s iouCropping) add(p *program) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	if s.scale.Greatest > 1 {
		return errors.New("want a Scale up to 1")
	}
	return p.geometry(s, crops)
}

func (s iouCropping) after(_, _ int) (w, h int) { return 0, 0 }

func (s iouCropping) Move(e *engine.Engine, r *rand.Rand) error {
	return engine.IouCrop{Scale: s.scale, Ratio: s.ratio, Ious: s.ious, Trials: s.trials}.Move(e, r)
}
