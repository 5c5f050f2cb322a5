package program

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

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

// checkFilter is the error of a filter of a warp or of a policy that torchvision's tensors do not have.
func (p *Program) checkFilter(c *Call) error {
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
