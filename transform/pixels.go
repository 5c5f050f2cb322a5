package transform

import (
	"errors"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
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

// Axes is the order of an image's dimensions.
type Axes uint8

// The orders. CHW stores one plane per channel, as PyTorch does. HWC stores the channels of each pixel together.
const (
	CHW = Axes(engine.CHW)
	HWC = Axes(engine.HWC)
)

// ToTensor makes the result float32 of shape (3, h, w), or (1, h, w) after Grayscale(1), with values of x/255:
// torchvision's ToTensor. With [Depth16] integers are divided by the greatest value of their dtype.
func ToTensor() Step { return stepOf(program.ToTensor, nil) }

// PILToTensor makes the result uint8 of shape (3, h, w), or (1, h, w) after Grayscale(1): torchvision's PILToTensor.
func PILToTensor() Step { return stepOf(program.PILToTensor, nil) }

// ToDtype makes the result of [ToTensor] [dataset.Float16] or [dataset.BFloat16], rounded to even from float32 as
// torchvision's ToDtype does. It must come after [Normalize]. With [Depth16] and without ToTensor, dataset.Int32 and
// dataset.Float32 keep the stored values.
//
// ToDtype(dataset.Float32, [Scaled]()) stands in place of ToTensor: it is torchvision's ToDtype(torch.float32,
// scale=True), which multiplies by 1/255 instead of dividing, so that 126 of the 256 values differ in the last bit.
func ToDtype(dt dataset.Dtype, options ...Option) Step { return stepOf(program.ToDtype, options, dt) }

// Layout sets the order of the result's dimensions: by default [CHW] with [ToTensor] or [PILToTensor], and otherwise
// [HWC].
func Layout(a Axes) Option { return optionOf(program.Layout, engine.Axes(a)) }

// Normalize subtracts mean[c] from every value of channel c and divides by std[c], in float32: torchvision's
// Normalize. Mean and std have one number per channel, or one for all. It must come after [ToTensor], and not after
// [Eval] and [Train].
func Normalize(mean, std []float32) Step {
	return stepOf(program.Normalize, nil, slices.Clone(mean), slices.Clone(std))
}

// Rescale is [ToTensor] with another factor than 1/255: values are float32(float64(x)·factor), as in Hugging Face's
// transformers.
func Rescale(factor float64) Step { return stepOf(program.Rescale, nil, factor) }

// Patches stores the result as rows, one per patch of side×side pixels, as vision transformers of varying sizes take it:
// a field of shape (patches, channels·frames·side·side). The sides of the image must be multiples of the patches'. It must
// come after [ToTensor], and is not for PadTo, Views, FiveCrop and RandomErasing.
//
// Rows follow the image row by row. With [Merge] they follow it in squares of Merge×Merge patches. With [Frames] an image
// is there several times, as a video of so many equal frames. A row has the order (channel, frame, y, x), and with the
// option [Layout] of HWC (y, x, channel, frame). Their number varies with the image, which needs [Ragged], unless
// [MaxPatches] makes it the same for all.
func Patches(side int, options ...Option) Step { return stepOf(program.Patches, options, side) }

// SizesFunc adds a field of int64 numbers that depend on nothing but sizes, heights and widths: of the image before all
// steps, or with [Tiles] of the one that it cuts, and of its result before [PadTo]. Of writes them to out, which has as many numbers as the shape, all of them 0
// before; all workers call it at the same time.
func SizesFunc(field string, shape dataset.Shape, of func(image, result [2]int, out []int64)) Step {
	c := program.New(program.SizesFunc, nil, program.Text(field), slices.Clone(shape)).Having(of)
	if of == nil {
		c.Wrong(errors.New("the function is nil"))
	}
	return step{c}
}

// BGR stores the channels as blue, green, red, for models that were trained with OpenCV or Caffe. It must come before
// [Normalize], which takes its numbers in that order.
func BGR() Step { return stepOf(program.BGR, nil) }

// RandomErasing sets a random rectangle of the tensor with probability p: torchvision's RandomErasing, whose default
// for p is 0.5. It must come after [ToTensor] and [Normalize].
//
// [Scale], of the area as a part of the image's, is 0.02 to 0.33 by default, and [Ratio], of height to width, 0.3 to
// 3.3. [Value] or [RandomValue] say what is written instead of 0.
func RandomErasing(p float64, options ...Option) Step {
	return stepOf(program.RandomErasing, options, p)
}

// MixUp mixes every image of a batch with the one before it: torchvision's MixUp. One λ per batch is drawn from
// Beta(alpha, alpha); torchvision's default for alpha is 1. Labels become float32 of shape (classes). It is a step for
// the option Collate of package loader:
//
//	loader.New(ds, loader.BatchSize(128), loader.Shuffle(true),
//		loader.Collate(transform.MixUp(0.2, 1000)))
//
// The field "image" holds floating-point numbers, and "label" int64 classes or float32 shares of classes. [Fields]
// names other fields, and [Probability] is 1 by default.
func MixUp(alpha float64, classes int, options ...Option) dataset.BatchStep {
	return program.Mixing{Call: program.New(program.MixUp, calls(options), alpha, classes)}
}

// CutMix replaces a box of every image of a batch by that of the image before it: torchvision's CutMix. The box is the
// same for the whole batch, with λ from Beta(alpha, alpha). Labels are mixed by the area of the box. The field "image"
// may have any dtype. [Fields] and [Probability] are those of [MixUp], as is the rest.
func CutMix(alpha float64, classes int, options ...Option) dataset.BatchStep {
	return program.Mixing{Call: program.New(program.CutMix, calls(options), alpha, classes)}
}
