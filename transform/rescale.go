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
		o := &p.output
		o.float, o.dtype, o.factor = true, dataset.Float32, factor
		for c := range o.table {
			for x := range o.table[c] {
				v := float32(float64(x) * factor)
				o.table[c][x] = v
				o.rescaled = o.rescaled || v != float32(x)/255
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
		o := &p.output
		if err := o.beforeOwn(); err != nil {
			return err
		}
		switch {
		case o.channels != 3:
			return errors.New("want 3 channels")
		case o.reversed:
			return errors.New("must come only once")
		case o.norms > 0 || len(o.erasings) > 0:
			return errors.New("must come before Normalize and RandomErasing")
		}
		o.reversed = true
		o.calls = append(o.calls, "BGR()")
		return nil
	}}
}
