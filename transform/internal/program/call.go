// Package program makes a plan of a list of steps: it checks them, merges geometry that one resampling does, finds where
// each field goes, and prints the plan. A step is data, a [Call] of a [Kind]; the kinds say what is done with it.
package program

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Kind is what a step, an option of steps or a setting is.
type Kind struct {
	name    string
	takes   []*Kind                          // the options that it has
	several bool                             // a setting that may be there more than once
	sized   bool                             // its first argument is a size
	chance  bool                             // its last argument is a probability
	warps   bool                             // its Interpolation is that of a warp
	check   func(v Values) error             // of an option: of its arguments
	add     func(p *Program, c *Call) error  // of a step or a setting
	brief   func(c *Call, args []any) string // how mistakes name a step that has others
}

// Values are arguments by position.
type Values []any

// A Call is a step, an option or a setting as data.
type Call struct {
	*Kind
	text    string // how it prints, if not as the call
	Args    Values
	steps   []*Call // of a step that has others
	Own     any     // what is no argument: functions and steps of the user's own
	options []*Call
	mistake error
}

// New is the call of a step or a setting with those options that are among the ones that it has.
func New(k *Kind, options []*Call, args ...any) *Call {
	c := &Call{Kind: k, Args: args}
	var errs []error
	for _, o := range options {
		switch {
		case o == nil:
			errs = append(errs, errors.New("an option is empty"))
		case !slices.Contains(k.takes, o.Kind):
			errs = append(errs, fmt.Errorf("has no option %s", o.name))
		case c.has(o.Kind):
			errs = append(errs, fmt.Errorf("has the option %s twice", o.name))
		default:
			c.options = append(c.options, o)
			if o.check != nil {
				errs = append(errs, o.check(o.Args))
			}
		}
	}
	if k.sized {
		errs = append(errs, c.extent().check())
	}
	if k.chance {
		errs = append(errs, figures.CheckProbability(c.prob()))
	}
	if k.warps {
		f := c.filter(resize.Nearest)
		errs = append(errs, want(f == resize.Nearest || f == resize.Bilinear || f == resize.Bicubic, "the Interpolation Nearest, Bilinear or Bicubic"))
	}
	c.mistake = errors.Join(errs...)
	return c
}

// With is a step that has other steps, of which it prints as the call.
func With(k *Kind, steps, options []*Call, args ...any) *Call {
	c := New(k, options, args...)
	c.steps = steps
	if steps == nil {
		c.steps = []*Call{}
	}
	return c
}

// Wrong adds a mistake.
func (c *Call) Wrong(err error) *Call {
	c.mistake = errors.Join(err, c.mistake)
	return c
}

// Named gives the call another text.
func (c *Call) Named(text string) *Call {
	c.text = text
	return c
}

// Having gives the call what is no argument.
func (c *Call) Having(own any) *Call {
	c.Own = own
	return c
}

// String prints the call.
func (c *Call) String() string {
	switch {
	case c == nil:
		return "<nil>"
	case c.text != "":
		return c.text
	}
	return figures.Call(c.name, slices.Concat([]any(c.Args), figures.Anys(c.steps), figures.Anys(c.options))...)
}

// nameOf is how mistakes name a step.
func (c *Call) nameOf() string {
	if c.brief != nil {
		return c.brief(c, c.Args)
	}
	return c.String()
}

// option is the arguments of an option, or nil.
func (c *Call) option(k *Kind) Values {
	for _, o := range c.options {
		if o.Kind == k {
			return o.Args
		}
	}
	return nil
}

// has reports whether an option was given.
func (c *Call) has(k *Kind) bool {
	return slices.ContainsFunc(c.options, func(o *Call) bool { return o.Kind == k })
}

// The options of a call, or what they are without it.

func (c *Call) span(k *Kind, least, greatest float64) engine.Span {
	if v := c.option(k); v != nil {
		return v.span()
	}
	return engine.Span{Least: least, Greatest: greatest}
}

func optionOf[T any](c *Call, k *Kind, usual T) T {
	if v := c.option(k); v != nil {
		return v[0].(T)
	}
	return usual
}

func (c *Call) filter(usual resize.Filter) resize.Filter { return optionOf(c, Interpolation, usual) }

func (v Values) float(i int) float64 { return v[i].(float64) }
func (v Values) int(i int) int       { return v[i].(int) }
func (v Values) text(i int) string   { return string(v[i].(Text)) }
func (v Values) span() engine.Span   { return engine.Span{Least: v.float(0), Greatest: v.float(1)} }

// of are all arguments, which have one type.
func of[T any](v Values) []T {
	all := make([]T, len(v))
	for i := range v {
		all[i] = v[i].(T)
	}
	return all
}

// Text is an argument that prints in quotes, as names of fields do.
type Text string

// String quotes the text.
func (t Text) String() string { return fmt.Sprintf("%q", string(t)) }

// Texts are arguments that print in quotes.
func Texts(names ...string) []any {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = Text(n)
	}
	return args
}

func (v Values) texts() (all []string) {
	for _, t := range v {
		all = append(all, string(t.(Text)))
	}
	return all
}

// An extent is a size: its numbers, and whether it was one.
type extent struct {
	h, w int
	one  bool
}

// extent is the first argument, a number or height and width.
func (c *Call) extent() extent {
	if v, ok := c.Args[0].([2]int); ok {
		return extent{v[0], v[1], false}
	}
	n := c.Args.int(0)
	return extent{n, n, true}
}

// prob is the last argument.
func (c *Call) prob() float64 { return c.Args.float(len(c.Args) - 1) }

func (s extent) check() error {
	if s.h < 1 || s.w < 1 {
		return errors.New("want a positive size")
	}
	if s.h > MaxSide || s.w > MaxSide {
		return fmt.Errorf("want a size up to %d", MaxSide)
	}
	return nil
}

// after is the size of every image after a step that makes this one.
func (s extent) after(_, _ int) (w, h int) { return s.w, s.h }

// MaxSide is the limit of sizes in steps, so that no area overflows.
const MaxSide = 1 << 20

// within says in which place the mistakes are that err joins. Each of them gets a line of its own.
func within(place string, err error) error {
	var errs []error
	each(err, func(err error) { errs = append(errs, fmt.Errorf("%s: %w", place, err)) })
	return errors.Join(errs...)
}

// each calls do with every error that err joins.
func each(err error, do func(error)) {
	if err == nil {
		return
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		do(err)
		return
	}
	for _, err := range joined.Unwrap() {
		each(err, do)
	}
}

// InPackage says that mistakes are of package transform.
func InPackage(err error) error { return within("transform", err) }

// The options of steps.
var (
	Interpolation = &Kind{name: "Interpolation", check: func(v Values) error {
		f := v[0].(resize.Filter)
		return want(f <= resize.TorchLanczos, "the filter Bilinear, Nearest, Box, Bicubic, Lanczos, Hamming, OpenCVLinear, OpenCVArea or TensorFlowBilinear, or torchbilinear, "+
			"torchbicubic or torchlanczos of JSON, not number %d", uint8(f))
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
