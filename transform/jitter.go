package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/internal/steps"
)

// ScaleJitter resizes the image, with its aspect ratio, to a random size: the largest
// that fits into a target in pixels, times a factor from 0.1 to 2. That is large scale
// jitter (arXiv 2012.07177). ScaleJitter(s) has the target s×s. As in torchvision, the
// first number of ScaleJitter(a, b) is compared with the image's width, the second with
// its height.
func ScaleJitter(target ...int) Jittering { return Jittering{target: target, scale: span{0.1, 2}} }

// Jittering is the step that [ScaleJitter] makes.
type Jittering struct {
	target []int
	scale  span
	filter Filter
}

// ScaleRange sets the least and the greatest factor, above 0 and up to 1048576. The default is 0.1 to 2.
func (s Jittering) ScaleRange(least, greatest float64) Jittering {
	s.scale = span{least, greatest}
	return s
}

// Filter sets the filter, torchvision's interpolation. The default is [Bilinear].
func (s Jittering) Filter(f Filter) Jittering {
	s.filter = f
	return s
}

// String prints the call that made the step.
func (s Jittering) String() string {
	text := steps.Call("ScaleJitter", steps.Anys(s.target)...)
	if s.scale != (span{0.1, 2}) {
		text += s.scale.call(".ScaleRange")
	}
	return text + filterCall(s.filter)
}

func (s Jittering) add(p *program) error {
	_, _, err := extent(s.target)
	if err := errors.Join(err, s.scale.check("ScaleRange"), checkFilter(s.filter)); err != nil {
		return err
	}
	if s.scale.greatest > maxSide {
		return fmt.Errorf("want a ScaleRange up to %d", maxSide)
	}
	return p.geometry(s, resizes)
}

func (s Jittering) after(_, _ int) (w, h int) { return 0, 0 }

func (s Jittering) move(e *engine, r *rand.Rand) error {
	w, h := e.size()
	first, second, _ := extent(s.target)
	fits := min(float64(second)/float64(h), float64(first)/float64(w))
	factor := float32(fits) * drawn(s.scale, r)
	return e.resample(int(float32(w)*factor), int(float32(h)*factor), resize.Filter(s.filter))
}

// RandomShortestSize makes the shorter side as long as one of sizes, drawn at random,
// as detectors are trained.
func RandomShortestSize(sizes ...int) ShortestSizing { return ShortestSizing{sizes: sizes} }

// ShortestSizing is the step that [RandomShortestSize] makes.
type ShortestSizing struct {
	sizes  []int
	limit  int
	filter Filter
}

// MaxSize limits the longer side to n pixels. By default there is no limit.
func (s ShortestSizing) MaxSize(n int) ShortestSizing {
	s.limit = n
	return s
}

// Filter sets the filter, torchvision's interpolation. The default is [Bilinear].
func (s ShortestSizing) Filter(f Filter) ShortestSizing {
	s.filter = f
	return s
}

// String prints the call that made the step.
func (s ShortestSizing) String() string {
	text := steps.Call("RandomShortestSize", steps.Anys(s.sizes)...)
	if s.limit != 0 {
		text += steps.Call(".MaxSize", s.limit)
	}
	return text + filterCall(s.filter)
}

func (s ShortestSizing) add(p *program) error {
	outside := func(n int) bool { return n < 1 || n > maxSide }
	switch {
	case len(s.sizes) == 0 || slices.ContainsFunc(s.sizes, outside):
		return errors.New("want positive sizes")
	case s.limit != 0 && outside(s.limit):
		return errors.New("want a positive MaxSize")
	}
	if err := checkFilter(s.filter); err != nil {
		return err
	}
	return p.geometry(s, resizes)
}

func (s ShortestSizing) after(_, _ int) (w, h int) { return 0, 0 }

func (s ShortestSizing) move(e *engine, r *rand.Rand) error {
	w, h := e.size()
	factor := float64(s.sizes[r.IntN(len(s.sizes))]) / float64(min(w, h))
	if s.limit != 0 {
		factor = min(factor, float64(s.limit)/float64(max(w, h)))
	}
	return e.resample(int(float64(w)*factor), int(float64(h)*factor), resize.Filter(s.filter))
}

// RandomResize makes the shorter side a random number of pixels long, at least least
// and less than below, and the longer one as [Resize] does.
func RandomResize(least, below int) RandomResizing {
	return RandomResizing{least: least, below: below}
}

// RandomResizing is the step that [RandomResize] makes.
type RandomResizing struct {
	least, below int
	filter       Filter
}

// Filter sets the filter, torchvision's interpolation. The default is [Bilinear].
func (s RandomResizing) Filter(f Filter) RandomResizing {
	s.filter = f
	return s
}

// String prints the call that made the step.
func (s RandomResizing) String() string {
	return steps.Call("RandomResize", s.least, s.below) + filterCall(s.filter)
}

func (s RandomResizing) add(p *program) error {
	if s.least < 1 || s.below <= s.least || s.below > maxSide {
		return errors.New("want a positive size, and a greater one")
	}
	if err := checkFilter(s.filter); err != nil {
		return err
	}
	return p.geometry(s, resizes)
}

func (s RandomResizing) after(_, _ int) (w, h int) { return 0, 0 }

func (s RandomResizing) move(e *engine, r *rand.Rand) error {
	return Resize(s.least+r.IntN(s.below-s.least)).Filter(s.filter).move(e, r)
}
