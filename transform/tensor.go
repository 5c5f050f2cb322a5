package transform

import (
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// Axes is the order of an image's dimensions.
type Axes uint8

// The orders. CHW stores one plane per channel, as PyTorch does. HWC stores the
// channels of each pixel together.
const (
	CHW = Axes(engine.CHW)
	HWC = Axes(engine.HWC)
)

// ToTensor makes the result float32 of shape (3, h, w), or (1, h, w) after Grayscale(1). The values are
// float32(x)/255, so from 0 to 1, as those of torchvision's ToTensor in v1 and v2. [ToDtype] with [Scaled] multiplies
// instead, as v2's ToDtype does. Unlike in torchvision, grey images have 3 channels too, because every image becomes
// RGB. With [Depth16] the result has the images' channels, and integers are divided by the greatest value of their
// dtype.
func ToTensor() Step { return stepOf(program.ToTensor, nil) }

// PILToTensor makes the result uint8 of shape (3, h, w), or (1, h, w) after Grayscale(1): torchvision's PILToTensor.
// With neither [ToTensor] nor PILToTensor it is uint8 of shape (h, w, 3) or (h, w, 1).
func PILToTensor() Step { return stepOf(program.PILToTensor, nil) }

// ToDtype makes the result of [ToTensor] [dataset.Float16] or [dataset.BFloat16], which takes half the memory. All
// arithmetic before it is float32; the results are rounded to the nearest value, ties to even, as torch's
// x.to(torch.float16) and x.to(torch.bfloat16) do. It must come after [ToTensor] and [Normalize]. dataset.Float32
// changes nothing there. With [Depth16] and without ToTensor, dataset.Int32 and dataset.Float32 keep the stored
// values as they are.
//
// ToDtype(dataset.Float32, [Scaled]()) is torchvision's ToImage(), ToDtype(torch.float32, scale=True), which v2
// recommends: it stands in place of [ToTensor], and differs from it in that the values are x·float32(1.0/255), a
// product in float32. 126 of the 256 values differ in the last bit. With [Depth16] the factor is 1 by the greatest
// value of the integers' dtype, such as 1.0/65535, and floats stay as they are. The dtype must be float32; a second
// ToDtype after it and after [Normalize] makes float16 or bfloat16.
func ToDtype(dt dataset.Dtype, options ...Option) Step { return stepOf(program.ToDtype, options, dt) }

// Layout sets the order of the result's dimensions. The default is [CHW] with [ToTensor] or [PILToTensor], and
// otherwise [HWC].
func Layout(a Axes) Option { return optionOf(program.Layout, engine.Axes(a)) }

// Normalize subtracts mean[c] from every value of channel c and divides by std[c], in float32 as PyTorch does. Mean
// and std have one number per channel, or one for all. It must come after [ToTensor]. Several Normalize steps apply
// one after the other, as in torchvision. After [Eval] and [Train], which normalise already, it is an error.
func Normalize(mean, std []float32) Step {
	return stepOf(program.Normalize, nil, slices.Clone(mean), slices.Clone(std))
}

// Rescale is [ToTensor] with another factor than 1/255: values are float32(float64(x)·factor), as in Hugging Face's
// transformers. Rescale(1) keeps the pixels' values from 0 to 255, and Rescale(1.0/255) is ToTensor() bit for bit.
func Rescale(factor float64) Step { return stepOf(program.Rescale, nil, factor) }

// BGR stores the channels in reverse order: blue, green, red, for models that were trained with OpenCV or Caffe. A
// [Normalize] after it takes its numbers in that order, so BGR must come before it.
func BGR() Step { return stepOf(program.BGR, nil) }

// RandomErasing sets a random rectangle of the tensor to 0 with probability p, as torchvision does. It draws an area
// and an aspect ratio until the rectangle is smaller than the image in width and height. After ten draws without
// success it erases nothing. It must come after [ToTensor] and [Normalize]. Torchvision's default for p is 0.5.
//
// [Scale] is the least and the greatest area, as parts of the image's; the default is 0.02 to 0.33. [Ratio] is that
// of height to width; the default is 0.3 to 3.3. [Value] or [RandomValue] say what is written instead of 0.
func RandomErasing(p float64, options ...Option) Step {
	return stepOf(program.RandomErasing, options, p)
}

// MixUp mixes every image of a batch with the one before it, the first one with the last one, as torchvision's MixUp
// does: image·λ + before·(1-λ). It draws one λ per batch from the distribution Beta(alpha, alpha); torchvision's
// default for alpha is 1. Labels are mixed in the same way and become float32 of shape (classes). It is a step for
// the option Collate of package loader:
//
//	loader.New(ds, loader.BatchSize(128), loader.Shuffle(true),
//		loader.Collate(transform.MixUp(0.2, 1000)))
//
// The field "image" holds floating-point numbers of any shape, and "label" either int64 classes or float32 rows with
// a share per class. [Fields] names other fields, and [Probability] says how likely a batch is mixed. Shuffle the
// samples, because neighbours are mixed.
//
// Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", https://arxiv.org/abs/1710.09412.
func MixUp(alpha float64, classes int, options ...Option) dataset.BatchStep {
	return program.Mixing{Call: program.New(program.MixUp, calls(options), alpha, classes)}
}

// CutMix replaces a box of every image of a batch by the same box of the image before it, in the first image by that
// of the last one, as torchvision's CutMix does. The box is the same for the whole batch. Its centre is anywhere in
// the image, its sides are √(1-λ) of the image's with λ from Beta(alpha, alpha), and it is cut off at the borders.
// Labels are mixed by the area of the box and become float32 of shape (classes).
//
// The field "image" may have any dtype. Its last two dimensions are height and width. A shape (h, w, c) is recognised
// by at most 4 channels and more than 4 rows. [Fields] and [Probability] are those of [MixUp], as is the rest.
//
// Source: Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features",
// https://arxiv.org/abs/1905.04899.
func CutMix(alpha float64, classes int, options ...Option) dataset.BatchStep {
	return program.Mixing{Call: program.New(program.CutMix, calls(options), alpha, classes)}
}
