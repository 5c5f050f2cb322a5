package transform

import (
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

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
