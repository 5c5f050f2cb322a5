package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
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
func ElasticTransform(alpha, sigma float64) Elastic { return Elastic{alpha: alpha, sigma: sigma} }

// Elastic is the step that [ElasticTransform] makes.
type Elastic struct {
	alpha, sigma float64
	painter      painter
}

// Filter sets the filter: [Nearest], [Bilinear] or [Bicubic]. The default is Bilinear, as in
// torchvision. Values that Bicubic makes above white or below black become white and black; in
// torchvision those of integers start again at the other end.
func (s Elastic) Filter(f Filter) Elastic {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s Elastic) Fill(r, g, b uint8) Elastic {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s Elastic) String() string {
	return steps.Call("ElasticTransform", s.alpha, s.sigma) + s.painter.options(Bilinear)
}

func (s Elastic) add(p *program) error {
	switch {
	case !(math.Abs(s.alpha) <= maxSide):
		return errors.New("want a finite alpha, up to 2^20")
	case !(s.sigma >= 0 && s.sigma <= maxSmooth):
		return errors.New("want a sigma from 0 to 100")
	}
	if err := s.painter.check(); err != nil {
		return err
	}
	return p.warpBy(s, displacing{editing{s}})
}

// displacing is the operation of ElasticTransform.
type displacing struct{ editing }

func (s displacing) do(e *engine, r *rand.Rand) error {
	if err := s.editing.do(e, r); err != nil {
		return err
	}
	return e.annotations.displace(&e.field)
}

// maxSmooth bounds the work per pixel.
const maxSmooth = 100

func (s Elastic) edit(e *engine, r *rand.Rand) error {
	w, h := e.size()
	e.field.Draw(w, h, s.alpha, s.sigma, r)
	e.frame.Displace(&e.field, s.painter.raster())
	return nil
}
