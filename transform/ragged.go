package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

// Ragged allows results whose size varies from image to image, as detectors take
// them. The field becomes ragged: one row holds the channels·height·width values of
// one image, in the order of [Layout]. [Images] also needs [Sizes], so that the
// shape is known. With [Compile], use [Compiled.Append].
//
// The rows of a batch lie one after the other, without padding. For a batch as one
// rectangle use [PadTo] instead.
func Ragged() Option {
	return setting(named("Ragged"), func(p *program) error {
		p.Ragged = true
		return nil
	})
}

// Sizes adds a field with that name: int64 of shape (2), the height and the width
// of the result in pixels, before [PadTo]. It tells which part of a padded image
// is not padding. [Compile] ignores it.
func Sizes(field string) Option {
	return setting(named("Sizes", quoted(field)...), func(p *program) error {
		if field == "" {
			return errors.New("want a name")
		}
		p.Sizes = field
		return nil
	})
}

// withSizes adds the field of Sizes to the spec.
func (p *program) withSizes(spec dataset.Spec) (dataset.Spec, error) {
	switch {
	case p.Sizes != "" && spec.Index(p.Sizes) >= 0:
		return nil, fmt.Errorf("Sizes(%q): the dataset has a field of that name", p.Sizes)
	case p.Sizes != "":
		spec = append(spec, dataset.Field{Name: p.Sizes, Dtype: dataset.Int64, Shape: dataset.Shape{2}})
	case p.Ragged:
		return nil, errors.New("Ragged(): want Sizes too, so that the shapes are known")
	}
	return spec, nil
}

// Append applies the steps to an image, and appends the result to dst: all values
// of an image of height×width pixels. The result must be float32, as for
// [Compiled.Into]. Its size may vary from image to image if the steps have [Ragged].
// After an error the result is dst.
func (c *Compiled) Append(dst []float32, from Source) (values []float32, height, width int, err error) {
	if c.samples != nil {
		return dst, 0, 0, errSamples
	}
	if c.field.Dtype != dataset.Float32 {
		return dst, 0, 0, fmt.Errorf("transform: append: the steps make %s, want ToTensor without ToDtype", c.field.Dtype)
	}
	if len(c.Views) > 0 {
		return dst, 0, 0, fmt.Errorf("transform: append: %v makes several images: use Into", c.cropping)
	}
	return c.pool.Append(dst, from.in)
}
