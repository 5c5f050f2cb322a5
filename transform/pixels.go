package transform

import (
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// ColorJitter changes brightness, contrast, saturation and hue in random order, as torchvision does with PIL images.
// Each of the first three is multiplied by a random factor from max(0, 1-x) to 1+x, where x is its argument. Hue is
// rotated by a random part of the colour circle, from -hue to hue, where hue is at most 0.5. An argument of 0 changes
// nothing.
//
// With [Depth16] the image changes as torchvision's tensors do, between 0 and the greatest value. Saturation and hue,
// unless they are 0, need 1 or 3 channels, and leave one channel as it is.
func ColorJitter(brightness, contrast, saturation, hue float64) Step {
	return stepOf(program.ColorJitter, nil, brightness, contrast, saturation, hue)
}

// Grayscale makes the image grey, with Pillow's weights of red, green and blue. The result has 1 channel with
// Grayscale(1) and 3 equal channels with Grayscale(3). With [Depth16] images have 1 or 3 channels, of which one is
// grey already, and torchvision's weights: 0.2989, 0.587 and 0.114.
func Grayscale(channels int) Step { return stepOf(program.Grayscale, nil, channels) }

// RandomGrayscale makes the image grey with probability p. The result has 3 channels, or with [Depth16] as many as
// before: 1 or 3. Torchvision's default for p is 0.1.
func RandomGrayscale(p float64) Step { return stepOf(program.RandomGrayscale, nil, p) }

// GaussianBlur blurs the image with a Gaussian kernel of size×size pixels, or, with two sizes, height×width:
// torchvision's GaussianBlur. Sizes are odd. The result is within one level of torchvision's, which is the same for
// PIL images and tensors. The image is reflected at its edges, repeatedly if the kernel is larger than the image.
//
// [Sigma] is the range from which the standard deviation is drawn, in pixels; the default is 0.1 to 2.
func GaussianBlur[S Size](size S, options ...Option) Step {
	return stepOf(program.GaussianBlur, options, size)
}

// GaussianNoise adds random numbers of a normal distribution to all values, with the mean and the standard deviation
// sigma as parts of the range from 0 to 255: torchvision's GaussianNoise. Torchvision's defaults are GaussianNoise(0,
// 0.1). The numbers are rounded towards 0 and the results limited to 0 and 255, as with torchvision's uint8 tensors
// and clip=True.
//
// With [Depth16] they are parts of the greatest value, and floats are limited to 0 and 1, as in torchvision. It has
// no noise for uint16 and int16: they are rounded as uint8 is, and limited to the range of their dtype.
func GaussianNoise(mean, sigma float64) Step { return stepOf(program.GaussianNoise, nil, mean, sigma) }

// RandomAdjustSharpness blends the image with a smoothed one, with probability p. Factor 0 gives the smoothed image,
// 1 the image as it is, and 2 twice the sharpness. The result is that of PIL's ImageEnhance.Sharpness, bit for bit,
// and within one level that of torchvision's tensors. Torchvision's default for p is 0.5.
func RandomAdjustSharpness(factor, p float64) Step {
	return stepOf(program.RandomAdjustSharpness, nil, factor, p)
}

// RandomPosterize keeps only the highest bits of every value, with probability p. Bits, from 0 to 8, is their number.
// With [Depth16] they are the highest of the 16 bits, or of the 15 without the sign, which is lost; floats are
// rounded down to one of 2^bits levels below 1. The result is that of PIL's ImageOps.posterize and of torchvision's
// tensors, bit for bit. Torchvision's default for p is 0.5.
func RandomPosterize(bits int, p float64) Step { return stepOf(program.RandomPosterize, nil, bits, p) }

// RandomSolarize inverts all values that are threshold or more, with probability p. Values are from 0 to 255, unlike
// those of a float tensor in torchvision. With [Depth16] the threshold is on the scale of the stored values. The
// result is that of PIL's ImageOps.solarize and of torchvision's tensors, bit for bit. Torchvision's default for p is
// 0.5.
func RandomSolarize(threshold, p float64) Step {
	return stepOf(program.RandomSolarize, nil, threshold, p)
}

// RandomInvert inverts all values with probability p. The result is that of PIL's ImageOps.invert and of
// torchvision's tensors, bit for bit. Torchvision's default for p is 0.5.
func RandomInvert(p float64) Step { return stepOf(program.RandomInvert, nil, p) }

// RandomAutocontrast stretches the values of each channel, so that the least becomes 0 and the greatest 255, with
// probability p. The result is that of PIL's ImageOps.autocontrast, bit for bit, and within one level that of
// torchvision's tensors. Torchvision's default for p is 0.5.
func RandomAutocontrast(p float64) Step { return stepOf(program.RandomAutocontrast, nil, p) }

// RandomEqualize equalises the histogram of each channel with probability p. The result is that of PIL's
// ImageOps.equalize, bit for bit. Torchvision's default for p is 0.5. With [Depth16] the result has at most 256
// levels, because torchvision equalises the highest 8 bits.
func RandomEqualize(p float64) Step { return stepOf(program.RandomEqualize, nil, p) }

// RandomChannelPermutation exchanges the three channels at random, as torchvision does, or with [Depth16] all
// channels.
func RandomChannelPermutation() Step { return stepOf(program.RandomChannelPermutation, nil) }

// RandomPhotometricDistort changes brightness, contrast, saturation and hue and permutes the channels, each with
// probability p: torchvision's RandomPhotometricDistort, which SSD is trained with. Torchvision's default for p is
// 0.5. The changes are those of [ColorJitter], with PIL's bits. With [Depth16] images have 1 or 3 channels.
//
// [Brightness], [Contrast] and [Saturation] are the ranges of factors, and [Hue] that by which hue is rotated. The
// defaults are 0.875 to 1.125, 0.5 to 1.5, 0.5 to 1.5, and -0.05 to 0.05.
func RandomPhotometricDistort(p float64, options ...Option) Step {
	return stepOf(program.RandomPhotometricDistort, options, p)
}

// JPEG makes the image what it is after coding it as JPEG and decoding it, with a random quality from least to
// greatest, each 1 to 100: torchvision's JPEG. The pixels are those of libjpeg-turbo with PIL images and with
// tensors, bit for bit.
func JPEG(least, greatest int) Step { return stepOf(program.JPEG, nil, least, greatest) }

// RandAugment applies n random augmentations of the same magnitude, as torchvision's RandAugment does: one of
// identity, shears, translations, rotation, brightness, colour, contrast, sharpness, posterize, solarize,
// autocontrast and equalize, each with equal probability. Magnitude is one of 31 bins, counted from 0. Torchvision's
// defaults are RandAugment(2, 9).
//
// The result is that of torchvision with PIL images, bit for bit.
//
// [NumMagnitudeBins] is 31 by default. [Interpolation], of moved pixels, is [Nearest] by default, and may be
// [Bilinear] or [Bicubic]. [Fill] is the colour of what is outside the image, by default black.
func RandAugment(n, magnitude int, options ...Option) Step {
	return stepOf(program.RandAugment, options, n, magnitude)
}

// TrivialAugmentWide applies one random augmentation of [RandAugment] with a random magnitude, from wider ranges, as
// torchvision's TrivialAugmentWide does. The result is that of torchvision with PIL images, bit for bit.
//
// [NumMagnitudeBins], [Interpolation] and [Fill] are those of RandAugment.
func TrivialAugmentWide(options ...Option) Step { return stepOf(program.TrivialAugmentWide, options) }

// A Policy is a set of pairs of augmentations for [AutoAugment], learned on the dataset of its
// name.
type Policy uint8

// The policies.
const (
	ImageNetPolicy Policy = iota
	CIFAR10Policy
	SVHNPolicy
)

// AutoAugment applies a random pair of augmentations from a policy, each with its own probability and magnitude, as
// torchvision's AutoAugment does (Cubuk et al., "AutoAugment: Learning Augmentation Strategies from Data", 2019).
// Torchvision's default is [ImageNetPolicy]. The result is that of torchvision with PIL images, bit for bit.
//
// [Interpolation], of moved pixels, is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Fill] is the colour
// of what is outside the image, by default black.
func AutoAugment(policy Policy, options ...Option) Step {
	return stepOf(program.AutoAugment, options, raster.Policy(policy))
}

// AugMix mixes the image with three others made from it by chains of one to three random augmentations each, as
// torchvision's AugMix does (Hendrycks et al., "AugMix: A Simple Data Processing Method to Improve Robustness and
// Uncertainty", 2020).
//
// The augmentations are those of PIL, bit for bit; torchvision uses its tensors' ones, which differ at the edges of
// moved images. The weights and the mixture are torchvision's: in float32, and rounded down.
//
// [Severity] is 3 by default, [MixtureWidth] 3, [ChainDepth] -1 (random), [Alpha] 1, [AllOps] true. [Interpolation],
// of moved pixels, is [Bilinear] by default, and may be [Nearest] or [Bicubic]. [Fill] is the colour of what is
// outside the image, by default black.
func AugMix(options ...Option) Step { return stepOf(program.AugMix, options) }
