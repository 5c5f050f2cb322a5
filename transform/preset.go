package transform

import (
	"errors"

	"github.com/penstock-go/penstock/internal/steps"
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
	if size < 1 || size > maxSide/2 {
		return wrong{steps.Call("Eval", size), errors.New("want a positive size")}
	}
	return preset{steps.Call("Eval", size), list{
		Resize((size*256 + 112) / 224), CenterCrop(size),
		ToTensor(), Normalize(ImageNetMean, ImageNetStd),
	}}
}

// Train is torchvision's list of steps for training: RandomResizedCrop(size),
// RandomHorizontalFlip(0.5), ToTensor(), Normalize([ImageNetMean],
// [ImageNetStd]). As with [Eval], another [Normalize] after it is an error.
func Train(size int) Step {
	if size < 1 || size > maxSide {
		return wrong{steps.Call("Train", size), errors.New("want a positive size")}
	}
	return preset{steps.Call("Train", size), list{
		RandomResizedCrop(size), RandomHorizontalFlip(0.5),
		ToTensor(), Normalize(ImageNetMean, ImageNetStd),
	}}
}

// A preset is a list of steps that normalises. After it no other step may.
type preset struct {
	text  string
	steps list
}

func (s preset) String() string { return s.text }

func (s preset) add(p *program) error {
	before := p.output.norms
	err := s.steps.add(p)
	if p.output.norms > before {
		p.output.preset = s.text
	}
	return err
}

// wrong is a step that could not be made.
type wrong struct {
	text string
	err  error
}

func (w wrong) String() string       { return w.text }
func (w wrong) add(p *program) error { return w.err }
