package transform

import (
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// ColorJitter changes brightness, contrast, saturation and hue in random order: torchvision's ColorJitter with PIL
// images. The first three are multiplied by a factor from max(0, 1-x) to 1+x, where x is the argument, and hue is
// rotated by up to hue, at most 0.5, of the colour circle. With [Depth16] saturation and hue need 1 or 3 channels.
func ColorJitter(brightness, contrast, saturation, hue float64) Step {
	return stepOf(program.ColorJitter, nil, brightness, contrast, saturation, hue)
}

// Grayscale makes the image grey: torchvision's Grayscale with Pillow's weights, and with [Depth16] those of tensors.
// The result has 1 channel or 3 equal ones.
func Grayscale(channels int) Step { return stepOf(program.Grayscale, nil, channels) }

// RandomGrayscale makes the image grey with probability p, and keeps its number of channels: torchvision's
// RandomGrayscale, whose default for p is 0.1.
func RandomGrayscale(p float64) Step { return stepOf(program.RandomGrayscale, nil, p) }

// GaussianBlur blurs the image with a Gaussian kernel of size×size pixels, or height×width, all odd: torchvision's
// GaussianBlur, within one level. [Sigma], of which the standard deviation in pixels is drawn, is 0.1 to 2 by default.
func GaussianBlur[S Size](size S, options ...Option) Step {
	return stepOf(program.GaussianBlur, options, size)
}

// GaussianNoise adds random numbers of a normal distribution to all values, with mean and standard deviation sigma as
// parts of the greatest value: torchvision's GaussianNoise, whose defaults are GaussianNoise(0, 0.1). Results are
// rounded towards 0 and limited to the range, as with clip=True. Floats of [Depth16] are limited to 0 and 1.
func GaussianNoise(mean, sigma float64) Step { return stepOf(program.GaussianNoise, nil, mean, sigma) }

// RandomAdjustSharpness blends the image with a smoothed one, with probability p: torchvision's RandomAdjustSharpness
// with PIL images. Factor 0 gives the smoothed image, 1 the image as it is, and 2 twice the sharpness. Torchvision's
// default for p is 0.5.
func RandomAdjustSharpness(factor, p float64) Step {
	return stepOf(program.RandomAdjustSharpness, nil, factor, p)
}

// RandomPosterize keeps the highest bits, 0 to 8, of every value, with probability p: torchvision's RandomPosterize,
// whose default for p is 0.5. Floats of [Depth16] are rounded down to one of 2^bits levels.
func RandomPosterize(bits int, p float64) Step { return stepOf(program.RandomPosterize, nil, bits, p) }

// RandomSolarize inverts all values that are threshold or more, with probability p: torchvision's RandomSolarize,
// whose default for p is 0.5. The threshold is on the scale of the pixels, 0 to 255, or with [Depth16] of the stored
// values.
func RandomSolarize(threshold, p float64) Step {
	return stepOf(program.RandomSolarize, nil, threshold, p)
}

// RandomInvert inverts all values with probability p: torchvision's RandomInvert, whose default for p is 0.5.
func RandomInvert(p float64) Step { return stepOf(program.RandomInvert, nil, p) }

// RandomAutocontrast stretches the values of each channel from black to white, with probability p: torchvision's
// RandomAutocontrast with PIL images, whose default for p is 0.5.
func RandomAutocontrast(p float64) Step { return stepOf(program.RandomAutocontrast, nil, p) }

// RandomEqualize equalises the histogram of each channel with probability p: torchvision's RandomEqualize with PIL
// images, whose default for p is 0.5. With [Depth16] at most 256 levels are left, as in torchvision.
func RandomEqualize(p float64) Step { return stepOf(program.RandomEqualize, nil, p) }

// RandomChannelPermutation exchanges all channels at random, as torchvision does.
func RandomChannelPermutation() Step { return stepOf(program.RandomChannelPermutation, nil) }

// RandomPhotometricDistort changes brightness, contrast, saturation and hue and permutes the channels, each with
// probability p: torchvision's RandomPhotometricDistort, whose default for p is 0.5, with its default ranges.
func RandomPhotometricDistort(p float64) Step {
	return stepOf(program.RandomPhotometricDistort, nil, p)
}

// JPEG makes the image what it is after coding it as JPEG with a random quality from least to greatest, 1 to 100, and
// decoding it: torchvision's JPEG, with the pixels of libjpeg-turbo.
func JPEG(least, greatest int) Step { return stepOf(program.JPEG, nil, least, greatest) }

// RandAugment applies n random augmentations of the same magnitude, a bin counted from 0: torchvision's RandAugment
// with PIL images, bit for bit. Torchvision's defaults are RandAugment(2, 9).
//
// [NumMagnitudeBins] is 31 by default. [Interpolation] is [Nearest] by default, or [Bilinear] or [Bicubic], and [Fill]
// black.
func RandAugment(n, magnitude int, options ...Option) Step {
	return stepOf(program.RandAugment, options, n, magnitude)
}

// TrivialAugmentWide applies one random augmentation with a random magnitude: torchvision's TrivialAugmentWide with
// PIL images, bit for bit. [NumMagnitudeBins], [Interpolation] and [Fill] are those of [RandAugment].
func TrivialAugmentWide(options ...Option) Step { return stepOf(program.TrivialAugmentWide, options) }

// A Policy is a set of pairs of augmentations for [AutoAugment], learned on the dataset of its name.
type Policy uint8

// The policies.
const (
	ImageNetPolicy Policy = iota
	CIFAR10Policy
	SVHNPolicy
)

// AutoAugment applies a random pair of augmentations from a policy: torchvision's AutoAugment with PIL images, bit for
// bit. Torchvision's default is [ImageNetPolicy]. [Interpolation] is [Nearest] by default, or [Bilinear] or [Bicubic],
// and [Fill] black.
func AutoAugment(policy Policy, options ...Option) Step {
	return stepOf(program.AutoAugment, options, raster.Policy(policy))
}

// AugMix mixes the image with others made from it by chains of random augmentations: torchvision's AugMix. The
// augmentations are those of PIL, bit for bit; the weights and the mixture are torchvision's.
//
// [Severity] is 3 by default, [Alpha] 1, [AllOps] true. [Interpolation] is
// [Bilinear] by default, or [Nearest] or [Bicubic], and [Fill] black.
func AugMix(options ...Option) Step { return stepOf(program.AugMix, options) }
