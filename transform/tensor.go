package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// Axes is the order of an image's dimensions.
type Axes uint8

// The orders. CHW stores one plane per channel, as PyTorch does. HWC stores the
// channels of each pixel together.
const (
	CHW Axes = iota + 1
	HWC
)

// String is the order's name.
func (a Axes) String() string {
	switch a {
	case CHW:
		return "CHW"
	case HWC:
		return "HWC"
	}
	return "unknown"
}

// An output says how the last image is stored in the slot.
type output struct {
	tensor   bool // the steps have ToTensor or PILToTensor
	float    bool
	axes     Axes // 0: the default
	channels int
	w, h     int
	rescaled bool   // by another factor than 1/255
	reversed bool   // BGR was there
	from     [3]int // the colour that a channel holds: 0 is red
	blanks   bool   // PadTo was there

	deep   bool    // Depth16 was there; then these three count
	unit   bool    // ToTensor was there, or ToDtype with Scale
	scaled bool    // ToDtype with Scale was there: unit is a product
	factor float64 // of Rescale; 0 without it
	cast   bool    // ToDtype was there

	own []planar // the PlanesTransforms after ToTensor

	table    [3][256]float32 // per channel: the result of each byte, if float
	mean     [3]float32      // of the last Normalize
	std      [3]float32
	norms    int    // Normalizes so far
	preset   string // the preset that has normalised
	dtype    dataset.Dtype
	erasings []erasing
	calls    []string

	full   *target[float32] // one of the two, where float
	halves *target[uint16]
}

func (o *output) planar() bool {
	return o.axes == CHW || o.axes == 0 && o.tensor
}

// check is called after all steps. It returns the errors and chooses how the image
// is stored.
func (o *output) check() []error {
	o.from = [3]int{0, 1, 2}
	if o.reversed {
		o.from = [3]int{2, 1, 0}
	}
	switch {
	case o.float && o.deep:
		o.aimDeep()
	case o.float:
		o.aim()
	}
	if err := o.checkOwn(); err != nil {
		return []error{err}
	}
	if !o.float && len(o.erasings) > 0 {
		return []error{errors.New("RandomErasing: must come after ToTensor")}
	}
	return nil
}

func (o *output) String() string {
	axes := HWC
	if o.planar() {
		axes = CHW
	}
	text := ""
	for _, c := range o.calls {
		text += c + ", "
	}
	return fmt.Sprintf("%s%s %v", text, o.dtype, axes)
}

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
	o := &p.output
	o.float, o.unit, o.dtype = true, true, dataset.Float32
	for c := range o.table {
		for x := range o.table[c] {
			o.table[c][x] = value(float32(x))
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
	if p.output.tensor {
		return errors.New("want only one of ToTensor, PILToTensor, Rescale and ToDtype with Scaled")
	}
	if p.output.cast {
		return errors.New("must come before ToDtype")
	}
	p.output.tensor = true
	p.output.calls = append(p.output.calls, call)
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
	o, dt := &p.output, s.to
	switch {
	case s.scaled && dt != dataset.Float32:
		return errors.New("want dataset.Float32 with Scaled, and another ToDtype after it")
	case s.scaled:
		o.scaled, o.rescaled = true, true
		return p.unit(s.String(), func(x float32) float32 { return x * float32(1.0/255) })
	case p.deep != nil:
		return p.deep.cast(o, dt)
	case dt != dataset.Float32 && dt != dataset.Float16 && dt != dataset.BFloat16:
		return errors.New("want dataset.Float32, dataset.Float16 or dataset.BFloat16")
	case !o.float:
		return errors.New("want ToTensor before it")
	case o.dtype != dataset.Float32 && o.dtype != dt:
		return fmt.Errorf("the result is %s already", o.dtype)
	}
	o.dtype = dt
	return nil
}

// Layout sets the order of the result's dimensions. The default is [CHW] with
// [ToTensor] or [PILToTensor], and otherwise [HWC].
func Layout(a Axes) Option {
	return setting(named("Layout", a), func(p *program) error {
		if a != CHW && a != HWC {
			return errors.New("want CHW or HWC")
		}
		p.output.axes = a
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
		n := p.output.channels
		if err := p.output.beforeOwn(); err != nil {
			return err
		}
		switch {
		case !p.output.float:
			return errors.New("must come after ToTensor")
		case p.output.preset != "":
			return fmt.Errorf("%s has normalised already: for other numbers, list its steps yourself", p.output.preset)
		case len(p.output.erasings) > 0:
			return errors.New("want it before RandomErasing")
		case p.output.dtype != dataset.Float32:
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
		p.output.norms++
		p.output.calls = append(p.output.calls, c.String())
		if p.deep != nil {
			p.deep.norms = append(p.deep.norms, channelNorm{mean, std})
			return nil
		}
		for c := range n {
			p.output.mean[c], p.output.std[c] = mean[c%len(mean)], std[c%len(std)]
			t := &p.output.table[c]
			for x := range t {
				t[x] = float32(t[x]-mean[c%len(mean)]) / std[c%len(std)]
			}
		}
		return nil
	}}
}
