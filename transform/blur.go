package transform

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// GaussianBlur blurs the image with a Gaussian kernel of size×size pixels, or, with two
// sizes, height×width: torchvision's GaussianBlur. Sizes are odd. The result is within one
// level of torchvision's, which is the same for PIL images and tensors. The image is reflected
// at its edges, repeatedly if the kernel is larger than the image.
//
// [Sigma] is the range from which the standard deviation is drawn, in pixels; the default is 0.1 to 2.
func GaussianBlur[S Size](size S, options ...Option) Step {
	return blurring{calling("GaussianBlur", keySigma, arguments{sigma: engine.Span{Least: 0.1, Greatest: 2}}, options, size), extentOf(size)}
}

type blurring struct {
	*call
	size extent
}

func (s blurring) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	for _, n := range []int{s.size.h, s.size.w} {
		if n%2 == 0 || n > maxKernel {
			return fmt.Errorf("want odd sizes up to %d", maxKernel)
		}
	}
	return p.edit(s)
}

// maxKernel keeps the errors of rounded weights small.
const maxKernel = 255

func (s blurring) edit(e *engine.Engine, r *rand.Rand) error {
	e.Frame.Blur(s.size.w, s.size.h, s.sigma.Draw(r))
	return nil
}

// GaussianNoise adds random numbers of a normal distribution to all values, with the mean and the
// standard deviation sigma as parts of the range from 0 to 255: torchvision's GaussianNoise.
// Torchvision's defaults are GaussianNoise(0, 0.1). The numbers are rounded towards 0 and the
// results limited to 0 and 255, as with torchvision's uint8 tensors and clip=True.
//
// With [Depth16] they are parts of the greatest value, and floats are limited to 0 and 1, as in
// torchvision. It has no noise for uint16 and int16: they are rounded as uint8 is, and limited to the range
// of their dtype.
func GaussianNoise(mean, sigma float64) Step {
	return noise{named("GaussianNoise", mean, sigma), mean, sigma}
}

type noise struct {
	*call
	mean, deviation float64
}

func (s noise) add(p *program) error {
	const most = 128 // torchvision's numbers of 16 bits end there
	if !(math.Abs(s.mean) <= most && s.deviation >= 0 && s.deviation <= most) {
		return errors.New("want a mean from -128 to 128, and a sigma from 0 to 128")
	}
	return p.edit(s)
}

func (s noise) edit(e *engine.Engine, r *rand.Rand) error {
	e.Frame.Noise(s.mean, s.deviation, r)
	return nil
}
