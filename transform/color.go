package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// ColorJitter changes brightness, contrast, saturation and hue in random order,
// as torchvision does with PIL images. Each of the first three is multiplied by a
// random factor from max(0, 1-x) to 1+x, where x is its argument. Hue is rotated by
// a random part of the colour circle, from -hue to hue, where hue is at most 0.5.
// An argument of 0 changes nothing.
//
// With [Depth16] the image changes as torchvision's tensors do, between 0 and the greatest
// value. Saturation and hue, unless they are 0, need 1 or 3 channels, and leave one channel as
// it is.
func ColorJitter(brightness, contrast, saturation, hue float64) Step {
	return jitter{named("ColorJitter", brightness, contrast, saturation, hue), [4]float64{brightness, contrast, saturation, hue}}
}

type jitter struct {
	*call
	x [4]float64
}

func (s jitter) add(p *program) error {
	for _, x := range s.x {
		if !(x >= 0 && x < math.MaxFloat32) {
			return errors.New("want finite numbers, 0 or more")
		}
	}
	if s.x[3] > 0.5 {
		return errors.New("want a hue up to 0.5")
	}
	if s.x[2] != 0 || s.x[3] != 0 {
		if err := p.greyOrRGB(); err != nil {
			return err
		}
	}
	return p.edit(s)
}

func (s jitter) edit(e *engine.Engine, r *rand.Rand) error {
	order, factor := s.Draw(r)
	for _, i := range order {
		if s.x[i] != 0 {
			raster.Adjust(e.Frame, i, factor[i])
		}
	}
	return nil
}

// Draw draws the order of the four changes, and their factors.
func (s jitter) Draw(r *rand.Rand) (order [4]int, factor [4]float64) {
	order = [4]int{0, 1, 2, 3}
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	for i, x := range s.x {
		factor[i] = engine.Span{Least: max(0, 1-x), Greatest: 1 + x}.Draw(r)
	}
	factor[3] = engine.Span{Least: -s.x[3], Greatest: s.x[3]}.Draw(r)
	return order, factor
}

// Grayscale makes the image grey, with Pillow's weights of red, green and blue.
// The result has 1 channel with Grayscale(1) and 3 equal channels with
// Grayscale(3). With [Depth16] images have 1 or 3 channels, of which one is grey already, and
// torchvision's weights: 0.2989, 0.587 and 0.114.
func Grayscale(channels int) Step { return grayscale{named("Grayscale", channels), channels, -1} }

// RandomGrayscale makes the image grey with probability p. The result has 3
// channels, or with [Depth16] as many as before: 1 or 3. Torchvision's default for p is 0.1.
func RandomGrayscale(p float64) Step { return grayscale{named("RandomGrayscale", p), 3, p} }

type grayscale struct {
	*call
	channels int
	p        float64 // -1: always
}

func (s grayscale) add(p *program) error {
	if err := p.greyOrRGB(); err != nil {
		return err
	}
	if s.p != -1 {
		if err := figures.CheckProbability(s.p); err != nil {
			return err
		}
		return p.edit(s)
	}
	if s.channels != 1 && s.channels != 3 {
		return errors.New("want 1 or 3 channels")
	}
	if s.channels == 1 || p.Deep != nil && s.channels != p.Output.Channels {
		if err := errors.Join(p.notNested(), p.regroups(s.channels)); err != nil {
			return err
		}
	}
	if err := p.edit(s); err != nil {
		return err
	}
	if !p.nested {
		p.Output.Channels = s.channels
	}
	return nil
}

func (s grayscale) edit(e *engine.Engine, r *rand.Rand) error {
	channels := s.channels
	if s.p != -1 {
		if r.Float64() >= s.p {
			return nil
		}
		channels = e.Frame.Channels()
	}
	if err := e.CheckChannels(channels); err != nil {
		return err
	}
	e.Frame.Grey(channels)
	return nil
}
