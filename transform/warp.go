package transform

import (
	"errors"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A painter says how a warp fills its result.
type painter struct {
	filter Filter // Nearest, Bilinear or Bicubic, which do not antialias here
	fill   [3]uint8
}

// paintOf is the painter that the options of a step make.
func paintOf(c *call) painter { return painter{c.interpolation, c.colour} }

func (p painter) check() error {
	switch p.filter {
	case Nearest, Bilinear, Bicubic:
		return nil
	}
	return errors.New("want the Interpolation Nearest, Bilinear or Bicubic")
}

// raster is what operations on pixels take.
func (p painter) raster() raster.Painter {
	return raster.Painter{Filter: resize.Filter(p.filter), Fill: p.fill}
}

// warp replaces the image, which render has made, by what m shows of it, in w×h pixels.
func (e *engine) warp(m raster.Mapping, w, h int, p painter) error {
	if err := e.check(w, h); err != nil {
		return err
	}
	e.frame.Warp(m, w, h, p.raster())
	e.moved()
	return e.annotations.follow(&m, w, h)
}
