package program

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Settings.
var (
	Field = &Kind{name: "Field", add: func(p *Program, c *Call) error {
		p.Field = c.Args.text(0)
		return want(p.Field != "", "a name")
	}}
	MaxPixels = &Kind{name: "MaxPixels", add: func(p *Program, c *Call) error {
		p.Limit = c.Args.int(0)
		return want(p.Limit >= 1, "a positive number")
	}}
	MaxMemory = &Kind{name: "MaxMemory", add: func(p *Program, c *Call) error {
		p.Memory = int64(c.Args.int(0))
		return want(p.Memory >= 1, "a positive number of bytes")
	}}
	Pillow = &Kind{name: "Pillow", add: func(p *Program, c *Call) error {
		p.Pillow = c.Args.int(0)
		return want(p.Pillow == 12 || p.Pillow == 13, "12 or 13")
	}}
	AllowTruncated = &Kind{name: "AllowTruncated", add: func(p *Program, _ *Call) error {
		p.Cut = true
		return nil
	}}
	Layout = &Kind{name: "Layout", add: func(p *Program, c *Call) error {
		p.Output.Axes = c.Args[0].(engine.Axes)
		return want(p.Output.Axes == engine.CHW || p.Output.Axes == engine.HWC, "CHW or HWC")
	}}
	Ragged = &Kind{name: "Ragged", add: func(p *Program, _ *Call) error {
		p.Ragged = true
		return nil
	}}
	Sizes = &Kind{name: "Sizes", add: func(p *Program, c *Call) error {
		p.Sizes = c.Args.text(0)
		return want(p.Sizes != "", "a name")
	}}
	Depth16 = &Kind{name: "Depth16", add: func(p *Program, c *Call) error {
		channels := c.Args.int(0)
		if channels < 1 || channels > raster.MaxChannels {
			return fmt.Errorf("want 1 to %d channels", raster.MaxChannels)
		}
		p.Deep = &engine.DeepPlan{Channels: channels, Text: c.String()}
		return nil
	}}
	Decompressor = &Kind{name: "Decompressor", several: true, add: func(p *Program, c *Call) error {
		code, decompress := c.Args.int(0), c.Own.(func(dst, src []byte) error)
		switch {
		case code < 1 || code > math.MaxUint16:
			return errors.New("want the number of a compression")
		case decompress == nil:
			return errors.New("want a function")
		}
		p.Codecs = append(p.Codecs, tiff.Codec{Code: code, Decompress: func(dst, src []byte) error {
			return source.Guard(p.Field, func() error { return decompress(dst, src) })
		}})
		return nil
	}}
)

// withSizes adds the fields of Sizes and SizesFunc to the spec.
func (p *Program) withSizes(spec dataset.Spec) (dataset.Spec, error) {
	switch {
	case p.Sizes != "" && spec.Index(p.Sizes) >= 0:
		return nil, fmt.Errorf("Sizes(%q): the dataset has a field of that name", p.Sizes)
	case p.Sizes != "":
		spec = append(spec, dataset.Field{Name: p.Sizes, Dtype: dataset.Int64, Shape: dataset.Shape{2}})
	case p.Ragged && len(p.Derived) == 0:
		return nil, errors.New("Ragged(): want Sizes too, so that the shapes are known")
	}
	return p.withDerived(spec)
}

// withDerived adds the fields of SizesFunc to the spec.
func (p *Program) withDerived(spec dataset.Spec) (dataset.Spec, error) {
	for _, d := range p.Derived {
		if spec.Index(d.Field.Name) >= 0 {
			return nil, fmt.Errorf("%s: there is a field of that name", d.Text)
		}
		spec = append(spec, d.Field)
	}
	return spec, nil
}

var errColours = errors.New("not with Depth16: it works with colours of 8 bits")

// castDeep is ToDtype for images of Depth16.
func castDeep(o *engine.Output, dt dataset.Dtype) error {
	switch {
	case o.Cast && o.Dtype != dt:
		return fmt.Errorf("the result is %s already", o.Dtype)
	case dt == dataset.Float16, dt == dataset.BFloat16:
		if !o.Float {
			return errors.New("want ToTensor before it")
		}
	case dt == dataset.Float32 && o.Float:
	case dt == dataset.Float32:
		o.Float = true // the values as they are
		o.Calls = append(o.Calls, "values")
	case dt != dataset.Uint16 && dt != dataset.Int32:
		return errors.New("want dataset.Uint16, dataset.Int32, dataset.Float32, dataset.Float16 or dataset.BFloat16")
	case o.Float:
		return errors.New("want it without ToTensor")
	}
	o.Dtype, o.Cast = dt, true
	return nil
}

// deepRaw sets up images that the dataset gives as arrays.
func (p *Program) deepRaw(f dataset.Field) (source.Raw, error) {
	r, err := source.ArraysOf(f, p.Deep.Channels)
	if err != nil {
		return r, err
	}
	for _, o := range p.outputs() {
		if !o.Float && !o.Cast {
			o.Dtype = f.Dtype
		}
		if o.Holds(f.Dtype) != nil {
			return r, fmt.Errorf("%s does not hold its values: want ToTensor or another ToDtype", o.Dtype)
		}
	}
	return r, nil
}

// outputs are those of the steps, and of all views.
func (p *Program) outputs() []*engine.Output {
	all := []*engine.Output{&p.Output}
	for _, v := range p.groups {
		all = append(all, v.program.outputs()...)
	}
	return all
}

// greyOrRGB is the error of steps with colours if the image has none.
func (p *Program) greyOrRGB() error {
	if n := p.Output.Channels; p.Deep != nil && n != 1 && n != 3 {
		return fmt.Errorf("want 1 or 3 channels, not %d: the others are no colours", n)
	}
	return nil
}

// checkFilter is the error of a filter of a warp or of a policy that torchvision's tensors do not have, and of those of OpenCV
// and TensorFlow, which work with bytes.
func (p *Program) checkFilter(c *Call) error {
	if f := c.filter(resize.Bilinear); p.Deep != nil && (f.ByRows() || f.IsTorch()) {
		return errors.New("not with Depth16: the filters of OpenCV, TensorFlow and torch are for colours of 8 bits")
	}
	if p.Deep != nil && c.warps && c.filter(resize.Bilinear) == resize.Bicubic && c.name != "ElasticTransform" {
		return errors.New("want the Interpolation Nearest or Bilinear with Depth16, as torchvision's tensors have")
	}
	return nil
}

// checkFill is the error of a Fill that the image cannot have.
func (p *Program) checkFill(c *Call) error {
	v := c.option(Fill)
	switch n := len(v); {
	case p.Deep == nil:
		return checkColour(v)
	case n > 1 && n != p.Output.Channels:
		return errors.New("want a Fill per channel, or one for all")
	}
	return nil
}

// fill is the option Fill of a step.
func (p *Program) fill(c *Call) (f raster.Fill) {
	v := of[float64](c.option(Fill))
	if len(v) == 0 {
		return f
	}
	if p.Deep == nil {
		for k := range f.Colour {
			f.Colour[k] = uint8(v[k%len(v)])
		}
		return f
	}
	values := make([]float32, len(v))
	for k := range v {
		values[k] = float32(v[k])
	}
	p.Deep.Fills = append(p.Deep.Fills, values)
	return raster.Fill{Values: &values}
}

// Own is a step of the user's own: Having gives it an [engine.Sampling], and its arguments are the names of its fields.
// It prints as its text.
var Own = &Kind{add: func(p *Program, c *Call) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	op := c.Own.(engine.Sampling)
	op.Text, op.Fields = c.String(), c.Args.texts()
	p.samplings = append(p.samplings, &op)
	return p.edit(c, &op)
}}

// OwnBytes is Own for images of 8 bits alone.
var OwnBytes = &Kind{add: func(p *Program, c *Call) error {
	if p.Deep != nil {
		return errColours
	}
	return Own.add(p, c)
}}

// findFields finds the fields of all SampleTransforms in the spec of the dataset, which is nil for a single image.
func (p *Program) findFields(spec dataset.Spec) error {
	var errs []error
	for _, s := range p.samplings {
		errs = append(errs, p.find(s, spec))
	}
	for _, v := range p.groups {
		errs = append(errs, within(v.place, v.program.findFields(spec)))
	}
	return errors.Join(errs...)
}

// find finds the fields of a step in the spec.
func (p *Program) find(s *engine.Sampling, spec dataset.Spec) error {
	for _, name := range s.Fields {
		at := spec.Index(name)
		if spec == nil {
			return fmt.Errorf("%s: a single image has no other fields", s.Text)
		}
		if at < 0 {
			return fmt.Errorf("%s: the dataset has no field %q, only %v", s.Text, name, spec)
		}
		if name == p.Field {
			return fmt.Errorf("%s: that is the field of the images", s.Text)
		}
		mask := p.maskAt(name)
		s.At, s.Masks = append(s.At, at), append(s.Masks, mask)
		s.Sees = s.Sees || mask >= 0
	}
	return nil
}
