// Package program makes a plan of a list of steps: it checks them, merges geometry that one resampling does, finds where
// each field goes, and prints the plan. A step is data, a [Call] of a [Kind]; the kinds say what is done with it.
package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
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
