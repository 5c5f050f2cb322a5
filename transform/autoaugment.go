package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
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
//
// [Interpolation], of moved pixels, is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Fill] is the
// colour of what is outside the image, by default black.
func AutoAugment(policy Policy, options ...Option) Step {
	return autoAugmenting{calling("AutoAugment", keyInterpolation|keyFill, arguments{interpolation: Nearest}, options, policy), policy}
}

type autoAugmenting struct {
	*call
	policy Policy
}

func (s autoAugmenting) add(p *program) error {
	if err := s.paints().Check(); err != nil {
		return err
	}
	if int(s.policy) >= len(raster.Policies) {
		return errors.New("want ImageNetPolicy, CIFAR10Policy or SVHNPolicy")
	}
	return p.editAlone(s)
}

func (s autoAugmenting) paints() painter { return paintOf(s.call) }

func (s autoAugmenting) edit(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	space := raster.UsualScheme(10)
	for _, o := range s.Draw(r) {
		if r.Float64() < o.P {
			o.Of.Apply(e.Frame, space.Draw(o.Of, o.Bin, w, h, r), s.paints().raster())
		}
	}
	return nil
}

// Draw draws a pair of the policy.
func (s autoAugmenting) Draw(r *rand.Rand) [2]raster.Choice {
	pairs := &raster.Policies[s.policy]
	return pairs[r.IntN(len(pairs))]
}
