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

func (p painter) Check() error {
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
