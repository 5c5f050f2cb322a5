package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// ElasticTransform moves every pixel by a random vector that changes smoothly over the image:
// torchvision's ElasticTransform, whose defaults are ElasticTransform(50, 5). Alpha is the
// strength, and sigma the standard deviation in pixels of the Gaussian that smooths the
// vectors; with 0 they are not smoothed. The result is within one level of torchvision's for the
// same vectors, which is the same for PIL images and tensors.
//
// Masks take the nearest pixels. Boxes and keypoints move by the vectors of single pixels,
// as in torchvision. A keypoint takes the vector of the pixel that it is in, and loses its
// fraction. A box takes the vectors of its corners, rounded up.
//
// [Interpolation] is [Bilinear] by default, and may be [Nearest] or [Bicubic], whose values above white or below
// black become white and black; in torchvision those of integers start again at the other end. [Fill] is the
// colour of what is outside the image, by default black.
func ElasticTransform(alpha, sigma float64, options ...Option) Step {
	return elastic{calling("ElasticTransform", keyInterpolation|keyFill, arguments{}, options, alpha, sigma), alpha, sigma}
}

type elastic struct {
	*call
	strength, smooth float64
}

func (s elastic) add(p *program) error {
	switch {
	case !(math.Abs(s.strength) <= maxSide):
		return errors.New("want a finite alpha, up to 2^20")
	case !(s.smooth >= 0 && s.smooth <= maxSmooth):
		return errors.New("want a sigma from 0 to 100")
	}
	if err := s.paints().Check(); err != nil {
		return err
	}
	return p.warpBy(s, displacing{editing{s}})
}

func (s elastic) paints() painter { return paintOf(s.call) }

// displacing is the operation of ElasticTransform.
type displacing struct{ editing }

func (s displacing) Do(e *engine.Engine, r *rand.Rand) error {
	if err := s.editing.Do(e, r); err != nil {
		return err
	}
	return e.Annotations.Displace(&e.Field)
}

// maxSmooth bounds the work per pixel.
const maxSmooth = 100

func (s elastic) edit(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	e.Field.Draw(w, h, s.strength, s.smooth, r)
	e.Frame.Displace(&e.Field, s.paints().raster())
	return nil
}
