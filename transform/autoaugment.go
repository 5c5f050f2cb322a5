package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
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
	if int(p) < len(policies) {
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
	if int(s.policy) >= len(policies) {
		return errors.New("want ImageNetPolicy, CIFAR10Policy or SVHNPolicy")
	}
	return p.editAlone(s)
}

func (s AutoAugmenting) edit(img *Image, r *rand.Rand, mem *scratch) error {
	space := usualScheme(10)
	for _, o := range s.draw(r) {
		if r.Float64() < o.p {
			o.a.apply(img, space.draw(o.a, o.bin, img.Width, img.Height, r), s.painter, mem)
		}
	}
	return nil
}

// draw draws a pair of the policy.
func (s AutoAugmenting) draw(r *rand.Rand) [2]option {
	pairs := &policies[s.policy]
	return pairs[r.IntN(len(pairs))]
}

// An option is an augmentation of a policy, with its probability and the bin of its magnitude.
type option struct {
	a   augmentation
	p   float64
	bin int
}

// policies are from the paper's appendix, as torchvision lists them.
var policies = [...][25][2]option{
	ImageNetPolicy: {
		{{posterization, 0.4, 8}, {rotation, 0.6, 9}},
		{{solarization, 0.6, 5}, {autoContrast, 0.6, 0}},
		{{equalization, 0.8, 0}, {equalization, 0.6, 0}},
		{{posterization, 0.6, 7}, {posterization, 0.6, 6}},
		{{equalization, 0.4, 0}, {solarization, 0.2, 4}},
		{{equalization, 0.4, 0}, {rotation, 0.8, 8}},
		{{solarization, 0.6, 3}, {equalization, 0.6, 0}},
		{{posterization, 0.8, 5}, {equalization, 1, 0}},
		{{rotation, 0.2, 3}, {solarization, 0.6, 8}},
		{{equalization, 0.6, 0}, {posterization, 0.4, 6}},
		{{rotation, 0.8, 8}, {colour, 0.4, 0}},
		{{rotation, 0.4, 9}, {equalization, 0.6, 0}},
		{{equalization, 0, 0}, {equalization, 0.8, 0}},
		{{inversion, 0.6, 0}, {equalization, 1, 0}},
		{{colour, 0.6, 4}, {contrast, 1, 8}},
		{{rotation, 0.8, 8}, {colour, 1, 2}},
		{{colour, 0.8, 8}, {solarization, 0.8, 7}},
		{{sharpness, 0.4, 7}, {inversion, 0.6, 0}},
		{{shearX, 0.6, 5}, {equalization, 1, 0}},
		{{colour, 0.4, 0}, {equalization, 0.6, 0}},
		{{equalization, 0.4, 0}, {solarization, 0.2, 4}},
		{{solarization, 0.6, 5}, {autoContrast, 0.6, 0}},
		{{inversion, 0.6, 0}, {equalization, 1, 0}},
		{{colour, 0.6, 4}, {contrast, 1, 8}},
		{{equalization, 0.8, 0}, {equalization, 0.6, 0}},
	},
	CIFAR10Policy: {
		{{inversion, 0.1, 0}, {contrast, 0.2, 6}},
		{{rotation, 0.7, 2}, {translateX, 0.3, 9}},
		{{sharpness, 0.8, 1}, {sharpness, 0.9, 3}},
		{{shearY, 0.5, 8}, {translateY, 0.7, 9}},
		{{autoContrast, 0.5, 0}, {equalization, 0.9, 0}},
		{{shearY, 0.2, 7}, {posterization, 0.3, 7}},
		{{colour, 0.4, 3}, {brightness, 0.6, 7}},
		{{sharpness, 0.3, 9}, {brightness, 0.7, 9}},
		{{equalization, 0.6, 0}, {equalization, 0.5, 0}},
		{{contrast, 0.6, 7}, {sharpness, 0.6, 5}},
		{{colour, 0.7, 7}, {translateX, 0.5, 8}},
		{{equalization, 0.3, 0}, {autoContrast, 0.4, 0}},
		{{translateY, 0.4, 3}, {sharpness, 0.2, 6}},
		{{brightness, 0.9, 6}, {colour, 0.2, 8}},
		{{solarization, 0.5, 2}, {inversion, 0, 0}},
		{{equalization, 0.2, 0}, {autoContrast, 0.6, 0}},
		{{equalization, 0.2, 0}, {equalization, 0.6, 0}},
		{{colour, 0.9, 9}, {equalization, 0.6, 0}},
		{{autoContrast, 0.8, 0}, {solarization, 0.2, 8}},
		{{brightness, 0.1, 3}, {colour, 0.7, 0}},
		{{solarization, 0.4, 5}, {autoContrast, 0.9, 0}},
		{{translateY, 0.9, 9}, {translateY, 0.7, 9}},
		{{autoContrast, 0.9, 0}, {solarization, 0.8, 3}},
		{{equalization, 0.8, 0}, {inversion, 0.1, 0}},
		{{translateY, 0.7, 9}, {autoContrast, 0.9, 0}},
	},
	SVHNPolicy: {
		{{shearX, 0.9, 4}, {inversion, 0.2, 0}},
		{{shearY, 0.9, 8}, {inversion, 0.7, 0}},
		{{equalization, 0.6, 0}, {solarization, 0.6, 6}},
		{{inversion, 0.9, 0}, {equalization, 0.6, 0}},
		{{equalization, 0.6, 0}, {rotation, 0.9, 3}},
		{{shearX, 0.9, 4}, {autoContrast, 0.8, 0}},
		{{shearY, 0.9, 8}, {inversion, 0.4, 0}},
		{{shearY, 0.9, 5}, {solarization, 0.2, 6}},
		{{inversion, 0.9, 0}, {autoContrast, 0.8, 0}},
		{{equalization, 0.6, 0}, {rotation, 0.9, 3}},
		{{shearX, 0.9, 4}, {solarization, 0.3, 3}},
		{{shearY, 0.8, 8}, {inversion, 0.7, 0}},
		{{equalization, 0.9, 0}, {translateY, 0.6, 6}},
		{{inversion, 0.9, 0}, {equalization, 0.6, 0}},
		{{contrast, 0.3, 3}, {rotation, 0.8, 4}},
		{{inversion, 0.8, 0}, {translateY, 0, 2}},
		{{shearY, 0.7, 6}, {solarization, 0.4, 8}},
		{{inversion, 0.6, 0}, {rotation, 0.8, 4}},
		{{shearY, 0.3, 7}, {translateX, 0.9, 3}},
		{{shearX, 0.1, 6}, {inversion, 0.6, 0}},
		{{solarization, 0.7, 2}, {translateY, 0.6, 7}},
		{{shearY, 0.8, 4}, {inversion, 0.8, 0}},
		{{shearX, 0.7, 9}, {translateY, 0.8, 3}},
		{{shearY, 0.8, 5}, {autoContrast, 0.7, 0}},
		{{shearX, 0.7, 2}, {inversion, 0.1, 0}},
	},
}
