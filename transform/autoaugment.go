package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Policy is a set of pairs of augmentations for [AutoAugment], learned on the dataset of its
// name.
type Policy uint8

// The policies.
const (
	ImageNetPolicy Policy = iota
	CIFAR10Policy
	SVHNPolicy
)

// String is the policy's name.
func (p Policy) String() string {
	if int(p) < len(raster.Policies) {
		return [...]string{"ImageNetPolicy", "CIFAR10Policy", "SVHNPolicy"}[p]
	}
	return "unknown"
}

// AutoAugment applies a random pair of augmentations from a policy, each with its own
// probability and magnitude, as torchvision's AutoAugment does (Cubuk et al., "AutoAugment:
// Learning Augmentation Strategies from Data", 2019). Torchvision's default is
// [ImageNetPolicy]. The result is that of torchvision with PIL images, bit for bit.
func AutoAugment(policy Policy) AutoAugmenting {
	return AutoAugmenting{policy: policy, painter: painter{filter: Nearest}}
}

// AutoAugmenting is the step that [AutoAugment] makes.
type AutoAugmenting struct {
	policy  Policy
	painter painter
}

// Filter sets the filter of moved pixels: [Nearest], [Bilinear] or [Bicubic]. The default is
// Nearest, as in torchvision.
func (s AutoAugmenting) Filter(f Filter) AutoAugmenting {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s AutoAugmenting) Fill(r, g, b uint8) AutoAugmenting {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s AutoAugmenting) String() string {
	return steps.Call("AutoAugment", s.policy) + s.painter.options(Nearest)
}

func (s AutoAugmenting) add(p *program) error {
	if err := s.painter.check(); err != nil {
		return err
	}
	if int(s.policy) >= len(raster.Policies) {
		return errors.New("want ImageNetPolicy, CIFAR10Policy or SVHNPolicy")
	}
	return p.editAlone(s)
}

func (s AutoAugmenting) edit(e *engine, r *rand.Rand) error {
	w, h := e.size()
	space := raster.UsualScheme(10)
	for _, o := range s.draw(r) {
		if r.Float64() < o.P {
			o.Of.Apply(e.frame, space.Draw(o.Of, o.Bin, w, h, r), s.painter.raster())
		}
	}
	return nil
}

// draw draws a pair of the policy.
func (s AutoAugmenting) draw(r *rand.Rand) [2]raster.Choice {
	pairs := &raster.Policies[s.policy]
	return pairs[r.IntN(len(pairs))]
}
