package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/transform/internal/program"
)

// RandomApply applies all of the steps with probability p, else none of them: torchvision's RandomApply, whose default
// is 0.5.
//
// As in [RandomChoice] and [RandomOrder], the steps are those that change the image. Steps that are not drawn cost
// nothing: the window that is decoded is that of the steps drawn.
func RandomApply(p float64, several ...Step) Step {
	return step{program.With(program.RandomApply, stepsOf(several), nil, p)}
}

// RandomChoice applies one of the steps, drawn with equal probability or by the option [P]: torchvision's
// RandomChoice. Use [Compose] for a choice of several steps.
func RandomChoice(list ...Item) Step {
	several, options, err := divide(list)
	return step{program.With(program.RandomChoice, several, options).Wrong(err)}
}

// RandomOrder applies all of the steps in random order: torchvision's RandomOrder.
func RandomOrder(several ...Step) Step {
	return step{program.With(program.RandomOrder, stepsOf(several), nil)}
}

// Compose combines several steps into one, as torchvision's Compose does.
func Compose(several ...Step) Step { return step{program.With(program.Compose, stepsOf(several), nil)} }

// ImageNetMean and ImageNetStd are the means and standard deviations with which torchvision's models were trained.
// They are for red, green and blue, with values from 0 to 1. Steps copy them: a change has no effect on steps that
// exist already.
var (
	ImageNetMean = []float32{0.485, 0.456, 0.406}
	ImageNetStd  = []float32{0.229, 0.224, 0.225}
)

// Eval is torchvision's list of steps for evaluation: Resize(size·256/224), CenterCrop(size), ToTensor(),
// Normalize([ImageNetMean], [ImageNetStd]). Another [Normalize] after it is an error.
func Eval(size int) Step {
	return presetOf("Eval", size, program.MaxSide/2, Resize((size*256+112)/224), CenterCrop(size), ToTensor(), Normalize(ImageNetMean, ImageNetStd))
}

// Train is torchvision's list of steps for training: RandomResizedCrop(size), RandomHorizontalFlip(0.5), ToTensor(),
// Normalize([ImageNetMean], [ImageNetStd]). Another [Normalize] after it is an error.
func Train(size int) Step {
	return presetOf("Train", size, program.MaxSide, RandomResizedCrop(size), RandomHorizontalFlip(0.5), ToTensor(), Normalize(ImageNetMean, ImageNetStd))
}

// Preset is [Compose] of steps that normalise for a certain model: another [Normalize] after it is an error. It prints
// as name, without the steps.
func Preset(name string, several ...Step) Step {
	return step{program.With(program.Preset, stepsOf(several), nil).Named(name)}
}

// presetOf is a preset with a size of 1 to most.
func presetOf(name string, size, most int, several ...Step) Step {
	c := program.With(program.Preset, stepsOf(several), nil).Named(fmt.Sprintf("%s(%d)", name, size))
	if size < 1 || size > most {
		c.Wrong(errors.New("want a positive size"))
	}
	return step{c}
}

// Views makes n results of every image, each with draws of its own, as SimCLR takes Views(2, …). The field of the
// result has the shape (n, 3, h, w), or (n, 5, 3, h, w) with [FiveCrop]. Several Views with fields of their own ([As])
// make groups of different sizes, as multi-crop does (SwAV, DINO). Every image is decoded once for all of them.
//
// All steps but [ExifTranspose] must be among those of Views; options stand next to it. It cannot be combined with
// [Boxes], [Mask], [Masks] and [KeyPoints].
func Views(n int, list ...Item) Step {
	several, options, err := divide(list)
	return step{program.With(program.Views, several, options, n).Wrong(err)}
}
