package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
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
		p.ragged = true
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
		p.sizes = field
		return nil
	})
}

// withSizes adds the field of Sizes to the spec.
func (p *program) withSizes(spec dataset.Spec) (dataset.Spec, error) {
	switch {
	case p.sizes != "" && spec.Index(p.sizes) >= 0:
		return nil, fmt.Errorf("Sizes(%q): the dataset has a field of that name", p.sizes)
	case p.sizes != "":
		spec = append(spec, dataset.Field{Name: p.sizes, Dtype: dataset.Int64, Shape: dataset.Shape{2}})
	case p.ragged:
		return nil, errors.New("Ragged(): want Sizes too, so that the shapes are known")
	}
	return spec, nil
}

// place stores the image that the lane has run in the sample.
func (r *reader) place(dst dataset.Slot) error {
	cell := dst.Cell(r.field)
	if r.ragged {
		o := &r.lane.output
		cell.Grow(o.channels * o.h * o.w * o.dtype.Size())
	}
	if err := r.lane.store(cell.Bytes(), dst.Rand()); err != nil {
		return err
	}
	if r.sizes != "" {
		h, w := r.lane.shown()
		size := dataset.Row[int64](dst, len(r.spec)-1)
		size[0], size[1] = int64(h), int64(w)
	}
	return nil
}

// shown is the size of the result before PadTo.
func (l *lane) shown() (h, w int) {
	if l.output.blanks {
		return l.engine.shown.Y, l.engine.shown.X
	}
	return l.output.h, l.output.w
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
	if len(c.views) > 0 {
		return dst, 0, 0, fmt.Errorf("transform: append: %v makes several images: use Into", c.crops)
	}
	s, err := c.run(from, nil)
	if err != nil {
		c.release(s)
		return dst, 0, 0, err
	}
	o := &s.lane.output
	n := o.channels * o.h * o.w
	values = slices.Grow(dst, n)[:len(dst)+n]
	err = c.store(s, dense.Bytes(values[len(dst):]))
	height, width = o.h, o.w
	c.release(s)
	if err != nil {
		return dst, 0, 0, err
	}
	return values, height, width, nil
}
