package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// ScaleJitter resizes the image, with its aspect ratio, to a random size: the largest
// that fits into a target in pixels, times a factor. That is large scale jitter (arXiv
// 2012.07177) and torchvision's ScaleJitter. As there, the first number of a target of two is
// compared with the image's width, the second with its height.
//
// [Scale] is the range of the factor, torchvision's scale_range, above 0 and up to 1048576; the default
// is 0.1 to 2. [Interpolation] is [Bilinear] by default.
func ScaleJitter[S Size](target S, options ...Option) Step {
	return jittering{calling("ScaleJitter", keyScale|keyInterpolation, arguments{scale: engine.Span{Least: 0.1, Greatest: 2}}, options, target), extentOf(target)}
}

type jittering struct {
	*call
	target extent
}

func (s jittering) add(p *program) error {
	if err := s.target.Check(); err != nil {
		return err
	}
	if s.scale.Greatest > maxSide {
		return fmt.Errorf("want a Scale up to %d", maxSide)
	}
	return p.geometry(s, resizes)
}

func (s jittering) after(_, _ int) (w, h int) { return 0, 0 }

func (s jittering) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	fits := min(float64(s.target.w)/float64(h), float64(s.target.h)/float64(w))
	factor := float32(fits) * drawn(s.scale, r)
	return e.Resample(int(float32(w)*factor), int(float32(h)*factor), resize.Filter(s.interpolation))
}

// RandomShortestSize makes the shorter side as long as one of sizes, drawn at random, as detectors
// are trained: torchvision's RandomShortestSize.
//
// [MaxSize] limits the longer side; by default there is no limit. [Interpolation] is [Bilinear] by default.
func RandomShortestSize(sizes []int, options ...Option) Step {
	sizes = slices.Clone(sizes)
	return shortestSizing{calling("RandomShortestSize", keyMaxSize|keyInterpolation, arguments{}, options, sizes), sizes}
}

type shortestSizing struct {
	*call
	sizes []int
}

func (s shortestSizing) add(p *program) error {
	if len(s.sizes) == 0 || slices.ContainsFunc(s.sizes, func(n int) bool { return n < 1 || n > maxSide }) {
		return errors.New("want positive sizes")
	}
	return p.geometry(s, resizes)
}

func (s shortestSizing) after(_, _ int) (w, h int) { return 0, 0 }

func (s shortestSizing) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	factor := float64(s.sizes[r.IntN(len(s.sizes))]) / float64(min(w, h))
	if s.maxSize != 0 {
		factor = min(factor, float64(s.maxSize)/float64(max(w, h)))
	}
	return e.Resample(int(float64(w)*factor), int(float64(h)*factor), resize.Filter(s.interpolation))
}

// RandomResize makes the shorter side a random number of pixels long, at least least and below
// below: torchvision's RandomResize. [Interpolation] is [Bilinear] by default.
func RandomResize(least, below int, options ...Option) Step {
	return randomResizing{calling("RandomResize", keyInterpolation, arguments{}, options, least, below), least, below}
}

type randomResizing struct {
	*call
	least, below int
}

func (s randomResizing) add(p *program) error {
	if s.least < 1 || s.below <= s.least || s.below > maxSide {
		return errors.New("want a positive size, and a greater one")
	}
	return p.geometry(s, resizes)
}

func (s randomResizing) after(_, _ int) (w, h int) { return 0, 0 }

func (s randomResizing) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	w, h = shortened(w, h, s.least+r.IntN(s.below-s.least), 0)
	return e.Resample(w, h, resize.Filter(s.interpolation))
}
