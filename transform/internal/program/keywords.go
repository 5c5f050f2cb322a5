package program

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// The options of steps.
var (
	Interpolation = &Kind{name: "Interpolation", check: func(v Values) error {
		f := v[0].(resize.Filter)
		return want(f <= resize.Hamming, "the filter Bilinear, Nearest, Box, Bicubic, Lanczos or Hamming, not number %d", uint8(f))
	}}
	MaxSize = &Kind{name: "MaxSize", check: func(v Values) error {
		return want(v.int(0) >= 1 && v.int(0) <= MaxSide, "a positive MaxSize")
	}}
	Scale = &Kind{name: "Scale", check: func(v Values) error { return v.span().Check("Scale") }}
	Ratio = &Kind{name: "Ratio", check: func(v Values) error { return v.span().Check("Ratio") }}
	Sigma = &Kind{name: "Sigma", check: func(v Values) error { return v.span().Check("Sigma") }}
	Fill  = &Kind{name: "Fill", check: func(v Values) error { return want(len(v) > 0, "a Fill of one number or more") }}

	PaddingMode = &Kind{name: "PaddingMode", check: func(v Values) error {
		m := v[0].(raster.PadMode)
		return want(m <= raster.Symmetric, "the PaddingMode Constant, Edge, Reflect or Symmetric, not number %d", uint8(m))
	}}
	Padding     = &Kind{name: "Padding", check: func(v Values) error { return checkWidths(of[int](v)) }}
	PadIfNeeded = &Kind{name: "PadIfNeeded"}
	Floor       = &Kind{name: "Floor"}
	Expand      = &Kind{name: "Expand"}
	Center      = &Kind{name: "Center", check: func(v Values) error {
		return want(math.Abs(v.float(0)) <= MaxSide && math.Abs(v.float(1)) <= MaxSide, "a finite Center, at most 2^20 pixels away")
	}}
	Translate = &Kind{name: "Translate", check: func(v Values) error {
		x, y := v.float(0), v.float(1)
		return want(x >= 0 && x <= 1 && y >= 0 && y <= 1, "a Translate from 0 to 1")
	}}
	Shear = &Kind{name: "Shear", check: func(v Values) error {
		if len(v) != 2 && len(v) != 4 {
			return errors.New("want a Shear of 2 or 4 angles")
		}
		x, y := v.shears()
		return errors.Join(x.CheckAngles("angles of Shear"), y.CheckAngles("angles of Shear"))
	}}

	Value       = &Kind{name: "Value"}
	RandomValue = &Kind{name: "RandomValue"}

	NumMagnitudeBins = &Kind{name: "NumMagnitudeBins", check: func(v Values) error {
		return want(v.int(0) >= 2 && v.int(0) <= MaxSide, "NumMagnitudeBins of 2 or more") // torchvision cannot work with others either
	}}
	Severity = &Kind{name: "Severity", check: func(v Values) error {
		return want(v.int(0) >= 1 && v.int(0) <= mixBins, "a Severity from 1 to 10")
	}}
	Alpha = &Kind{name: "Alpha", check: func(v Values) error {
		return want(v.float(0) > 0 && v.float(0) <= MaxSide, "a finite Alpha above 0")
	}}
	AllOps = &Kind{name: "AllOps"}
	P      = &Kind{name: "P"}

	SideRange = &Kind{name: "SideRange", check: func(v Values) error {
		return want(v.float(0) >= 1 && v.float(0) <= v.float(1) && v.float(1) <= MaxSide, "a SideRange from 1 to %d, with the least number first", MaxSide)
	}}
	MinSize      = &Kind{name: "MinSize", check: func(v Values) error { return want(v.float(0) >= 1, "a MinSize of 1 or more") }}
	MinArea      = &Kind{name: "MinArea", check: func(v Values) error { return want(v.float(0) >= 1, "a MinArea of 1 or more") }}
	VerticalFlip = &Kind{name: "VerticalFlip"}
	Scaled       = &Kind{name: "Scaled"}
	As           = &Kind{name: "As", check: func(v Values) error { return want(v.text(0) != "", "As with a name") }}
	Fields       = &Kind{name: "Fields"}
	Probability  = &Kind{name: "Probability", check: func(v Values) error {
		return want(v.float(0) >= 0 && v.float(0) <= 1, "a Probability from 0 to 1")
	}}
	Dtype      = &Kind{name: "Dtype"}
	SegmentIDs = &Kind{name: "SegmentIDs"}
	Rows       = &Kind{name: "With"}
)

// want is the error of what is not so.
func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("want "+format, args...)
}

// shears are the angles of Shear along both axes.
func (v Values) shears() (x, y engine.Span) {
	if len(v) >= 2 {
		x = v.span()
	}
	if len(v) == 4 {
		y = v[2:].span()
	}
	return x, y
}

// checkColour is the error of a Fill that is no colour of 8 bits.
func checkColour(v Values) error {
	if n := len(v); n != 0 && n != 1 && n != 3 {
		return errors.New("want a Fill of one number, or of red, green and blue")
	}
	for _, x := range of[float64](v) {
		if x != float64(uint8(x)) {
			return errors.New("want a Fill of whole numbers from 0 to 255")
		}
	}
	return nil
}

func checkWidths(widths []int) error {
	if n := len(widths); n != 1 && n != 2 && n != 4 {
		return errors.New("want 1, 2 or 4 widths")
	}
	for _, n := range widths {
		if n < 0 || n > MaxSide {
			return errors.New("want widths of 0 or more")
		}
	}
	return nil
}
