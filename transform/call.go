package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// An Item is an entry of the lists for [Images], [Compile] and [Views]: a [Step] or an
// [Option].
type Item interface {
	fmt.Stringer
	item()
}

// A Size is that of an image in pixels: one number, or height and width, as in torchvision.
// Where a step says nothing else, one number is for both.
type Size interface{ int | [2]int }

// An extent is a Size: its numbers, and whether it was one.
type extent struct {
	h, w int
	one  bool
}

func extentOf[S Size](size S) extent {
	if v, ok := any(size).([2]int); ok {
		return extent{v[0], v[1], false}
	}
	n := any(size).(int)
	return extent{n, n, true}
}

func (s extent) Check() error {
	if s.h < 1 || s.w < 1 {
		return errors.New("want a positive size")
	}
	if s.h > maxSide || s.w > maxSide {
		return fmt.Errorf("want a size up to %d", maxSide)
	}
	return nil
}

// maxSide is the limit of sizes in steps, so that no area overflows.
const maxSide = 1 << 20

// A call is a step or an option as data: its name, its arguments by position as they print,
// and its options, whose values are the arguments.
type call struct {
	name    string
	args    []any
	options []Option
	arguments
	mistake error // of the options
}

// calling makes a call with those options that are among the ones that it takes. Arguments
// that no option gives have the values of usual.
func calling(name string, takes keyword, usual arguments, options []Option, args ...any) *call {
	c := &call{name: name, args: args, arguments: usual}
	var errs []error
	for _, o := range options {
		switch {
		case o.call == nil:
			errs = append(errs, errors.New("an option is empty"))
		case o.key&takes == 0:
			errs = append(errs, fmt.Errorf("has no option %s", o.name))
		case o.key&c.given != 0:
			errs = append(errs, fmt.Errorf("has the option %s twice", o.name))
		default:
			c.given |= o.key
			c.options = append(c.options, o)
			errs = append(errs, o.set(&c.arguments))
		}
	}
	if takes&keyFill != 0 {
		errs = append(errs, c.mix())
	}
	c.mistake = errors.Join(errs...)
	return c
}

// named makes the call of a step without options.
func named(name string, args ...any) *call { return &call{name: name, args: args} }

func (c *call) item() {}

// wrong is the error of the options.
func (c *call) wrong() error { return c.mistake }

// has reports whether the option was given.
func (c *call) has(k keyword) bool { return c.given&k != 0 }

// String prints the call.
func (c *call) String() string {
	if c == nil {
		return "Option{}"
	}
	return figures.Call(c.name, slices.Concat(c.args, figures.Anys(c.options))...)
}

// short prints the call without its arguments, of which there are n.
func (c *call) short(n int) string {
	if n == 0 {
		return c.String()
	}
	return c.name + "(…)"
}

// mix makes the colour of Fill.
func (c *call) mix() error {
	n := len(c.fill)
	if n == 0 {
		return nil
	}
	if n != 1 && n != 3 {
		return errors.New("want a Fill of one number, or of red, green and blue")
	}
	for k := range c.colour {
		v := c.fill[k%n]
		if v != float64(uint8(v)) {
			return errors.New("want a Fill of whole numbers from 0 to 255")
		}
		c.colour[k] = uint8(v)
	}
	return nil
}

// quoted are names as they print.
func quoted(names ...string) []any {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = fmt.Sprintf("%q", n)
	}
	return args
}

// A keyword is the name of an option, or a set of such names.
type keyword uint64

const (
	keyInterpolation keyword = 1 << iota
	keyMaxSize
	keyScale
	keyRatio
	keyFill
	keyLevel // Fill where it is no colour
	keyPaddingMode
	keyPadding
	keyPadIfNeeded
	keyCenter
	keyExpand
	keyTranslate
	keyShear
	keySigma
	keyBrightnesses
	keyContrasts
	keySaturations
	keyHues
	keyValue
	keyNoise
	keyBins
	keySeverity
	keyMixtureWidth
	keyChainDepth
	keyAlpha
	keyAllOps
	keyWeights
	keySideRange
	keySamplerOptions
	keyTrials
	keyMinSize
	keyMinArea
	keyVerticalFlip
	keyScaled
	keyFloor
	keyAs
	keyNames
	keyProbability
	keyDtype
	keySegmentIDs
	keyWith
)

// arguments are the values of the options that steps have.
type arguments struct {
	given         keyword // the options that there were
	interpolation Filter
	maxSize       int
	scale, ratio  engine.Span
	fill          []float64
	colour        [3]uint8 // fill as a colour of 8 bits
	mode          PadMode
	padding       []int
	needed        bool
	center        [2]float64
	expand        bool
	translate     [2]float64
	shearX        engine.Span
	shearY        engine.Span
	sigma         engine.Span
	distort       [4]engine.Span // brightness, contrast, saturation, hue
	value         []float32
	noise         bool
	bins          int
	severity      int
	width, depth  int
	alpha         float64
	few           bool
	weights       []float64
	side          engine.Span
	ious          []float64
	trials        int
	minSize       float64
	minArea       float64
	vertical      bool
	scaled        bool
	floor         bool
	field         string
	image, label  string
	probability   float64
	dtype         dataset.Dtype
	ids           bool
	rows          []string
}
