package program

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/codec/tiff"
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

// withSizes adds the field of Sizes to the spec.
func (p *Program) withSizes(spec dataset.Spec) (dataset.Spec, error) {
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
