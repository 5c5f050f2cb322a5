package transform

import (
	"errors"

	"github.com/penstock-go/penstock/dataset"
)

// Rescale is [ToTensor] with another factor than 1/255: values are
// float32(float64(x)·factor), as in Hugging Face's transformers. Rescale(1) keeps
// the pixels' values from 0 to 255, and Rescale(1.0/255) is ToTensor() bit for bit.
func Rescale(factor float64) Step {
	c := named("Rescale", factor)
	return simple{c, func(p *program) error {
		if v := float32(255 * factor); v-v != 0 || v == 0 {
			return errors.New("want a finite factor other than 0")
		}
		if err := p.toTensor(c.String()); err != nil {
			return err
		}
		o := &p.Output
		o.Float, o.Dtype, o.Factor = true, dataset.Float32, factor
		for c := range o.Table {
			for x := range o.Table[c] {
				v := float32(float64(x) * factor)
				o.Table[c][x] = v
				o.Rescaled = o.Rescaled || v != float32(x)/255
			}
		}
		return nil
	}}
}

// BGR stores the channels in reverse order: blue, green, red, for models that
// were trained with OpenCV or Caffe. A [Normalize] after it takes its numbers in
// that order, so BGR must come before it.
func BGR() Step {
	return simple{named("BGR"), func(p *program) error {
		o := &p.Output
		if err := o.BeforeOwn(); err != nil {
			return err
		}
		switch {
		case o.Channels != 3:
			return errors.New("want 3 channels")
		case o.Reversed:
			return errors.New("must come only once")
		case o.Norms > 0 || len(o.Erasings) > 0:
			return errors.New("must come before Normalize and RandomErasing")
		}
		o.Reversed = true
		o.Calls = append(o.Calls, "BGR()")
		return nil
	}}
}
