package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// Intensity is a step that changes values, made by [Window], [ZScore] or
// [MinMax]. It makes scans float32 and does not change masks.
type Intensity struct {
	name   string
	args   []any
	check  error
	only   []string
	lo, hi float64 // of the result
	to     bool    // lo and hi were given
	// nonzero excludes voxels of value 0 from the statistics and the change.
	nonzero bool
	scale   func(x Intensity, values []float32) error
}

// Window maps a range of values to the range from 0 to 1, as a CT viewer does:
// level - width/2 becomes 0 and level + width/2 becomes 1. Values outside are
// clipped. For CT scans level and width are in Hounsfield units: Window(40,
// 400) shows soft tissue, Window(-600, 1500) shows lungs.
//
// It is the function LINEAR_EXACT of DICOM PS3.3 C.11.2.1.3.2, and MONAI's
// ScaleIntensityRange with clipping.
func Window(level, width float64) Intensity {
	x := Intensity{name: "Window", args: []any{level, width}, hi: 1}
	if !(width > 0) || math.IsInf(width, 0) || math.IsNaN(level) || math.IsInf(level, 0) {
		x.check = errors.New("want a finite level and a positive width")
	}
	x.scale = func(x Intensity, values []float32) error {
		x.stretch(values, level-width/2, level+width/2)
		return nil
	}
	return x
}

// ZScore subtracts the mean of every channel and divides by its standard
// deviation, as MONAI's NormalizeIntensity does with channel_wise. A channel
// whose values are all equal becomes 0.
// See [Intensity.Nonzero].
func ZScore() Intensity {
	return Intensity{name: "ZScore", scale: zscore}
}

// MinMax maps the smallest value of every channel to 0 and the largest to 1. A
// channel whose values are all equal becomes 0.
func MinMax() Intensity {
	return Intensity{name: "MinMax", hi: 1, scale: minmax}
}

// Only restricts the step to the scans of these names.
func (x Intensity) Only(names ...string) Intensity {
	x.only = slices.Clone(names)
	return x
}

// To makes Window and MinMax map to the range from lo to hi instead of 0 to 1.
func (x Intensity) To(lo, hi float64) Intensity {
	x.lo, x.hi, x.to = lo, hi, true
	if x.name == "ZScore" || !(lo < hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		x.check = errors.New("To is for Window and MinMax: want finite lo < hi")
	}
	return x
}

// Nonzero makes ZScore or MinMax ignore voxels of value 0 and leave them as
// they are. In brain scans they are the background.
func (x Intensity) Nonzero() Intensity {
	x.nonzero = true
	if x.name == "Window" {
		x.check = errors.New("Nonzero is for ZScore and MinMax only")
	}
	return x
}

// String is the call that made the step.
func (x Intensity) String() string {
	text := figures.Call(x.name, x.args...)
	if x.to {
		text += figures.Call(".To", x.lo, x.hi)
	}
	if x.nonzero {
		text += ".Nonzero()"
	}
	if len(x.only) > 0 {
		text += figures.Call(".Only", figures.Anys(x.only)...)
	}
	return text
}

func (x Intensity) add(p *program) error {
	if x.check != nil {
		return x.check
	}
	p.names = append(p.names, x.only...)
	p.ops = append(p.ops, x)
	return nil
}

// of reports whether the step changes that volume.
func (x Intensity) of(v *Volume) bool {
	return !v.Mask && (len(x.only) == 0 || slices.Contains(x.only, v.Name))
}

func (x Intensity) outline(vs []*Volume) error {
	for _, v := range vs {
		if x.of(v) {
			v.Dtype = dataset.Float32
		}
	}
	return nil
}

func (x Intensity) apply(vs []*Volume, w *work) error {
	for _, v := range vs {
		if !x.of(v) {
			continue
		}
		values, err := v.Float32()
		if err != nil {
			return err
		}
		v.SetFloat32(values)
		channel := len(values) / v.Shape[0]
		for at := 0; at < len(values); at += channel {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			if err := x.scale(x, values[at:at+channel]); err != nil {
				return fmt.Errorf("%s: %w", v.Name, err)
			}
		}
	}
	return nil
}

var errNaN = errors.New("a value is NaN, so there are no statistics")

func zscore(x Intensity, values []float32) error {
	n, sum := 0, 0.0
	for _, v := range values {
		if !x.nonzero || v != 0 {
			sum += float64(v)
			n++
		}
	}
	if n == 0 {
		return nil // no statistics
	}
	mean, squares := sum/float64(n), 0.0
	for _, v := range values {
		if !x.nonzero || v != 0 {
			d := float64(v) - mean
			squares += d * d
		}
	}
	deviation := math.Sqrt(squares / float64(n))
	if math.IsNaN(deviation) {
		return errNaN
	}
	if deviation == 0 {
		deviation = 1
	}
	m, f := float32(mean), float32(1/deviation)
	for i, v := range values {
		if !x.nonzero || v != 0 {
			values[i] = (v - m) * f
		}
	}
	return nil
}

func minmax(x Intensity, values []float32) error {
	lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range values {
		if !x.nonzero || v != 0 {
			if v != v {
				return errNaN
			}
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
		}
	}
	if lo > hi {
		return nil
	}
	x.stretch(values, float64(lo), float64(hi))
	return nil
}

// stretch maps the range from…to to lo…hi and clips values outside.
func (x Intensity) stretch(values []float32, from, to float64) {
	lo, hi := float32(x.lo), float32(x.hi)
	f, start := float32(0), float32(from)
	if to > from {
		f = float32((x.hi - x.lo) / (to - from))
	}
	for i, v := range values {
		if x.nonzero && v == 0 {
			continue
		}
		y := (v-start)*f + lo
		if y < lo {
			y = lo
		}
		if y > hi {
			y = hi
		}
		values[i] = y
	}
}
