package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// Axes is the order of an image's dimensions.
type Axes uint8

// The orders. CHW stores one plane per channel, as PyTorch does. HWC stores the
// channels of each pixel together.
const (
	CHW = Axes(engine.CHW)
	HWC = Axes(engine.HWC)
)

// String is the order's name.
func (a Axes) String() string { return engine.Axes(a).String() }

// ToTensor makes the result float32 of shape (3, h, w), or (1, h, w) after Grayscale(1).
// The values are float32(x)/255, so from 0 to 1, as those of torchvision's ToTensor in v1 and
// v2. [ToDtype] with [Scaled] multiplies instead, as v2's ToDtype does. Unlike in torchvision,
// grey images have 3 channels too, because every image becomes RGB. With [Depth16] the result has
// the images' channels, and integers are divided by the greatest value of their dtype.
func ToTensor() Step {
	return simple{named("ToTensor"), func(p *program) error {
		return p.unit("ToTensor()", func(x float32) float32 { return x / 255 })
	}}
}

// unit makes values from 0 to 1. Value is that of a byte.
func (p *program) unit(call string, value func(x float32) float32) error {
	if err := p.toTensor(call); err != nil {
		return err
	}
	o := &p.Output
	o.Float, o.Unit, o.Dtype = true, true, dataset.Float32
	for c := range o.Table {
		for x := range o.Table[c] {
			o.Table[c][x] = value(float32(x))
		}
	}
	return nil
}

// PILToTensor makes the result uint8 of shape (3, h, w), or (1, h, w) after
// Grayscale(1): torchvision's PILToTensor. With neither [ToTensor] nor PILToTensor it is uint8 of shape
// (h, w, 3) or (h, w, 1).
func PILToTensor() Step {
	return simple{named("PILToTensor"), func(p *program) error {
		return p.toTensor("PILToTensor()")
	}}
}

func (p *program) toTensor(call string) error {
	if p.Output.Tensor {
		return errors.New("want only one of ToTensor, PILToTensor, Rescale and ToDtype with Scaled")
	}
	if p.Output.Cast {
		return errors.New("must come before ToDtype")
	}
	p.Output.Tensor = true
	p.Output.Calls = append(p.Output.Calls, call)
	return nil
}

// ToDtype makes the result of [ToTensor] [dataset.Float16] or [dataset.BFloat16], which takes
// half the memory. All arithmetic before it is float32; the results are rounded to the
// nearest value, ties to even, as torch's x.to(torch.float16) and x.to(torch.bfloat16) do.
// It must come after [ToTensor] and [Normalize]. dataset.Float32 changes nothing there. With
// [Depth16] and without ToTensor, dataset.Int32 and dataset.Float32 keep the stored values as
// they are.
//
// ToDtype(dataset.Float32, [Scaled]()) is torchvision's ToImage(), ToDtype(torch.float32, scale=True), which v2
// recommends: it stands in place of [ToTensor], and differs from it in that the values are
// x·float32(1.0/255), a product in float32. 126 of the 256 values differ in the last bit. With
// [Depth16] the factor is 1 by the greatest value of the integers' dtype, such as 1.0/65535, and floats stay as they are.
// The dtype must be float32; a second ToDtype after it and after [Normalize] makes float16 or bfloat16.
func ToDtype(dt dataset.Dtype, options ...Option) Step {
	return casting{calling("ToDtype", keyScaled, arguments{}, options, dt), dt}
}

type casting struct {
	*call
	to dataset.Dtype
}

func (s casting) add(p *program) error {
	o, dt := &p.Output, s.to
	switch {
	case s.scaled && dt != dataset.Float32:
		return errors.New("want dataset.Float32 with Scaled, and another ToDtype after it")
	case s.scaled:
		o.Scaled, o.Rescaled = true, true
		return p.unit(s.String(), func(x float32) float32 { return x * float32(1.0/255) })
	case p.Deep != nil:
		return castDeep(o, dt)
	case dt != dataset.Float32 && dt != dataset.Float16 && dt != dataset.BFloat16:
		return errors.New("want dataset.Float32, dataset.Float16 or dataset.BFloat16")
	case !o.Float:
		return errors.New("want ToTensor before it")
	case o.Dtype != dataset.Float32 && o.Dtype != dt:
		return fmt.Errorf("the result is %s already", o.Dtype)
	}
	o.Dtype = dt
	return nil
}

// Layout sets the order of the result's dimensions. The default is [CHW] with
// [ToTensor] or [PILToTensor], and otherwise [HWC].
func Layout(a Axes) Option {
	return setting(named("Layout", a), func(p *program) error {
		if a != CHW && a != HWC {
			return errors.New("want CHW or HWC")
		}
		p.Output.Axes = engine.Axes(a)
		return nil
	})
}

// Normalize subtracts mean[c] from every value of channel c and divides by
// std[c], in float32 as PyTorch does. Mean and std have one number per channel, or
// one for all. It must come after [ToTensor]. Several Normalize steps apply one
// after the other, as in torchvision. After [Eval] and [Train], which normalise
// already, it is an error.
func Normalize(mean, std []float32) Step {
	mean, std = slices.Clone(mean), slices.Clone(std)
	c := named("Normalize", mean, std)
	return simple{c, func(p *program) error {
		n := p.Output.Channels
		if err := p.Output.BeforeOwn(); err != nil {
			return err
		}
		switch {
		case !p.Output.Float:
			return errors.New("must come after ToTensor")
		case p.Output.Preset != "":
			return fmt.Errorf("%s has normalised already: for other numbers, list its steps yourself", p.Output.Preset)
		case len(p.Output.Erasings) > 0:
			return errors.New("want it before RandomErasing")
		case p.Output.Dtype != dataset.Float32:
			return errors.New("want it before ToDtype")
		case len(mean) != 1 && len(mean) != n || len(std) != 1 && len(std) != n:
			return fmt.Errorf("want one mean and standard deviation for all channels, or one for each: the image has %s", figures.Count(n, "channel", "channels"))
		}
		for _, v := range mean {
			if v-v != 0 {
				return errors.New("want finite means")
			}
		}
		for _, v := range std {
			if v-v != 0 || v == 0 {
				return errors.New("want finite standard deviations other than 0")
			}
		}
		p.Output.Norms++
		p.Output.Calls = append(p.Output.Calls, c.String())
		if p.Deep != nil {
			p.Deep.Norms = append(p.Deep.Norms, engine.ChannelNorm{Mean: mean, Std: std})
			return nil
		}
		for c := range n {
			p.Output.Mean[c], p.Output.Std[c] = mean[c%len(mean)], std[c%len(std)]
			t := &p.Output.Table[c]
			for x := range t {
				t[x] = float32(t[x]-mean[c%len(mean)]) / std[c%len(std)]
			}
		}
		return nil
	}}
}
