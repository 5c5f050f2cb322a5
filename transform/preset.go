package transform

import (
	"errors"
)

// ImageNetMean and ImageNetStd are the means and standard deviations with which
// torchvision's models were trained. They are for red, green and blue, with values
// from 0 to 1. Steps copy them: a change has no effect on steps that exist
// already.
var (
	ImageNetMean = []float32{0.485, 0.456, 0.406}
	ImageNetStd  = []float32{0.229, 0.224, 0.225}
)

// Eval is torchvision's list of steps for evaluation: Resize(n), CenterCrop(size),
// ToTensor(), Normalize([ImageNetMean], [ImageNetStd]). Here n is size·256/224,
// rounded, so 256 for Eval(224). Another [Normalize] after it is an error. For
// other means, list these steps yourself.
func Eval(size int) Step {
	c := named("Eval", size)
	if size < 1 || size > maxSide/2 {
		c.mistake = errors.New("want a positive size")
		return preset{c, c.String(), nil}
	}
	return preset{c, c.String(), []Step{
		Resize((size*256 + 112) / 224), CenterCrop(size),
		ToTensor(), Normalize(ImageNetMean, ImageNetStd),
	}}
}

// Train is torchvision's list of steps for training: RandomResizedCrop(size),
// RandomHorizontalFlip(0.5), ToTensor(), Normalize([ImageNetMean],
// [ImageNetStd]). As with [Eval], another [Normalize] after it is an error.
func Train(size int) Step {
	c := named("Train", size)
	if size < 1 || size > maxSide {
		c.mistake = errors.New("want a positive size")
		return preset{c, c.String(), nil}
	}
	return preset{c, c.String(), []Step{
		RandomResizedCrop(size), RandomHorizontalFlip(0.5),
		ToTensor(), Normalize(ImageNetMean, ImageNetStd),
	}}
}

// Preset is [Compose] of steps that normalise for a certain model: another [Normalize] after it is an
// error. It prints as name, without the steps.
func Preset(name string, several ...Step) Step { return preset{&call{name: name}, name, several} }

// A preset is a list of steps that normalises. After it no other step may.
type preset struct {
	*call
	text  string
	steps []Step
}

func (s preset) String() string { return s.text }

func (s preset) add(p *program) error {
	before := p.Output.Norms
	p.addAll(s.steps)
	if p.Output.Norms > before {
		p.Output.Preset = s.text
	}
	return nil
}
