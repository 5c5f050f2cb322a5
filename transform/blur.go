package transform

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// GaussianBlur blurs the image with a Gaussian kernel of size×size pixels, or, with two
// sizes, height×width: torchvision's GaussianBlur. Sizes are odd. The result is within one
// level of torchvision's, which is the same for PIL images and tensors. The image is reflected
// at its edges, repeatedly if the kernel is larger than the image.
func GaussianBlur(size ...int) Blurring { return Blurring{size: size, sigma: span{0.1, 2}} }

// Blurring is the step that [GaussianBlur] makes.
type Blurring struct {
	size  []int
	sigma span
}

// Sigma sets the range from which the standard deviation is drawn, in pixels. The default is
// 0.1 to 2.
func (s Blurring) Sigma(least, greatest float64) Blurring {
	s.sigma = span{least, greatest}
	return s
}

// String prints the call that made the step.
func (s Blurring) String() string {
	text := steps.Call("GaussianBlur", steps.Anys(s.size)...)
	if s.sigma != (span{0.1, 2}) {
		text += s.sigma.call(".Sigma")
	}
	return text
}

func (s Blurring) add(p *program) error {
	if _, _, err := extent(s.size); err != nil {
		return err
	}
	for _, n := range s.size {
		if n%2 == 0 || n > maxKernel {
			return fmt.Errorf("want odd sizes up to %d", maxKernel)
		}
	}
	if err := s.sigma.check("Sigma"); err != nil {
		return err
	}
	return p.edit(s)
}

// maxKernel keeps the errors of rounded weights small.
const maxKernel = 255

func (s Blurring) edit(e *engine, r *rand.Rand) error {
	h, w, err := extent(s.size)
	if err != nil {
		return err
	}
	e.frame.Blur(w, h, s.sigma.draw(r))
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
func GaussianNoise(mean, sigma float64) Step { return noise{mean, sigma} }

type noise struct{ mean, sigma float64 }

func (s noise) String() string { return steps.Call("GaussianNoise", s.mean, s.sigma) }

func (s noise) add(p *program) error {
	const most = 128 // torchvision's numbers of 16 bits end there
	if !(math.Abs(s.mean) <= most && s.sigma >= 0 && s.sigma <= most) {
		return errors.New("want a mean from -128 to 128, and a sigma from 0 to 128")
	}
	return p.edit(s)
}

func (s noise) edit(e *engine, r *rand.Rand) error {
	e.frame.Noise(s.mean, s.sigma, r)
	return nil
}
