// Package transform prepares images: it decodes, resizes, crops, augments and normalises them. Its steps have the
// names of torchvision's transforms and compute the same as those do on PIL images. The bytes of a picture become a
// model's input in three lines:
//
//	model, err := transform.Compile(transform.Resize(256), transform.CenterCrop(224), transform.ToTensor())
//	values := make([]float32, model.Spec()[0].Elements()) // of the shape (3, 224, 224)
//	err = model.Into(values, transform.File(jpeg))
//
// Steps take options with torchvision's keyword names: Resize(256, Interpolation(Bicubic)). Settings, such as
// [MaxPixels] and [Boxes], are options too, and stand anywhere in the list.
//
// [Images] applies a list of steps to the images of a dataset. [Compile] is for single images. Both first compile the
// list: consecutive resizes, crops and flips become one resampling, which reads only the part of the image that is
// kept. Conversion and normalisation happen while the result is written into the batch.
//
// Steps before [ToTensor] see uint8 pixels of shape (h, w, 3), and those that do not say otherwise keep it. What
// comes after, such as [Normalize], sees float32 of shape (3, h, w). [Depth16] says what changes with it.
package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// A Pipeline is a dataset with steps applied to its images. [Images] makes it.
type Pipeline struct {
	dataset.Wrap // of the dataset of images
	task         *engine.Task
	program      *program.Program
}

// Images returns ds with the steps applied to its field "image", or to the field that [Field] names. Masks, boxes and
// keypoints of the image move with it: those that the dataset says are such ([dataset.Field.Kind]), and those that
// [Boxes], [Mask], [Masks] and [KeyPoints] declare. All other fields stay as they are.
//
// The field holds files or pixels. Files are ragged uint8: JPEG, PNG, GIF, WebP, BMP, TIFF or PNM, packed photos
// (package packed), and formats that the program registers with package image. Pixels are uint8 of shape (h, w), (h,
// w, c) or (c, h, w) with 1, 3 or 4 channels. Every image becomes RGB, as with PIL's convert("RGB"), unless [Depth16]
// keeps its channels. The result is float32 (3, h, w) with [ToTensor], uint8 (3, h, w) with [PILToTensor], and uint8
// (h, w, 3) without either. Clips, which have several frames, are those of [UniformTemporalSubsample].
//
// A file that ends too early is an error ([AllowTruncated]), and so is one that is too large ([MaxPixels]). The error
// of a file in another format names the format and wraps [errors.ErrUnsupported]. The error of Images itself joins
// everything that is wrong with the steps.
func Images(ds dataset.Dataset, list ...Item) (*Pipeline, error) {
	x, err := pipelineOf(ds, list)
	if err != nil {
		return nil, program.InPackage(err)
	}
	return x, nil
}

func pipelineOf(ds dataset.Dataset, list []Item) (*Pipeline, error) {
	if ds == nil {
		return nil, errors.New("Images: the dataset is nil")
	}
	p, err := compile(ds.Spec(), list)
	if err != nil {
		return nil, err
	}
	return over(p, ds)
}

// compile checks a list, for samples of a dataset with these fields, or if spec is nil for single images.
func compile(spec dataset.Spec, list []Item) (*program.Program, error) {
	steps, settings, err := divide(list)
	return program.Compile(spec, steps, settings, err)
}

// over is the dataset of the results of ds.
func over(p *program.Program, ds dataset.Dataset) (*Pipeline, error) {
	task, err := p.Over(ds.Spec())
	if err != nil {
		return nil, err
	}
	return &Pipeline{Wrap: dataset.Wrap{Dataset: ds}, task: task, program: p}, nil
}

// Spec is the underlying dataset's Spec with the field of the images replaced by that of the results.
func (x *Pipeline) Spec() dataset.Spec { return x.task.Out }

// String describes the compiled steps: what is read, what is done to it, what is
// stored, and which other fields are passed on as they are.
func (x *Pipeline) String() string {
	in := x.Dataset.Spec()[x.task.Field]
	text := fmt.Sprintf("%v → %v\n", in, x.task.Out[x.task.Field])
	from, window, views := "to RGB", "only the window that the steps need", len(x.task.Views) > 0
	if !in.Ragged {
		from = "pixels to RGB"
	}
	if x.task.Deep != nil {
		from = x.task.Deep.Text
	}
	if views {
		text, window = in.String()+"\n", "once, only the window in which all views are"
	}
	text += "  decode    " + from + ", " + window + "\n"
	if n := x.task.Frames; n > 0 {
		text += fmt.Sprintf("  frames    %d, all with the same draws\n", n)
	}
	for _, line := range x.program.Lines {
		text += "  " + line + "\n"
	}
	if views {
		text += x.program.ViewLines(x.task.Out)
	} else {
		text += "  store     " + x.task.Output.String()
	}
	return text + x.program.PassLine(x.Dataset.Spec())
}

// Open makes a Reader for one goroutine. Readers share no memory. Of a [dataset.BatchReader] it takes up to 16 samples at once, but with annotations one.
func (x *Pipeline) Open() (dataset.Reader, error) {
	inner, err := x.Dataset.Open()
	if err != nil {
		return nil, err
	}
	return x.task.Open(inner), nil
}
