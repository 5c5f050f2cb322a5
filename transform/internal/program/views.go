package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// maxViews is the limit of views in a group.
const maxViews = 1024

// A group is the results of a Views.
type group struct {
	call    *Call
	place   string // of their mistakes
	target  string // the field of the results
	program *Program
	engine.Views
}

// Views is several results of an image.
var Views = &Kind{name: "Views", takes: []*Kind{As}, brief: func(c *Call, args []any) string {
	return figures.Call(c.name, slices.Concat(args, []any{"…"}, figures.Anys(c.options))...)
}, add: func(p *Program, c *Call) error {
	n := c.Args.int(0)
	switch {
	case n < 1 || n > maxViews:
		return fmt.Errorf("want 1 to %d views", maxViews)
	case p.inView:
		return errors.New("not within Views: several Views stand next to each other")
	case p.any():
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which it does not move: dataset.Select leaves fields out")
	}
	if err := p.notNested(); err != nil {
		return err
	}
	p.groups = append(p.groups, &group{call: c, Views: engine.Views{N: n}})
	return nil
}}

// compileViews compiles the steps of all groups with the settings of p, which the given steps have made.
func (p *Program) compileViews(given []*Call) (errs []error) {
	if len(p.groups) == 0 {
		return nil
	}
	if p.Ragged || p.Sizes != "" {
		errs = append(errs, errors.New("want no Ragged and Sizes with Views, whose results all have one size"))
	}
	for _, s := range flat(given) {
		if s != nil && s.Kind != Views && s.Kind != ExifTranspose {
			errs = append(errs, within(s.nameOf(), errors.New("must be among the steps of Views")))
		}
	}
	seen := map[string]string{}
	for _, v := range p.groups {
		v.place, v.target = v.call.nameOf(), p.Field
		if as := v.call.option(As); as != nil {
			v.target = as.text(0)
		}
		if before, ok := seen[v.target]; ok {
			errs = append(errs, fmt.Errorf("%s: want As with another field than that of %s", v.place, before))
		}
		seen[v.target] = v.place
		v.program = &Program{inView: true, Plan: engine.Plan{Field: v.target, Limit: p.Limit, Pillow: p.Pillow, Cut: p.Cut, Codecs: p.Codecs, Deep: p.Deep.Copy()}}
		v.program.Output.Axes = p.Output.Axes
		errs = append(errs, within(v.place, v.program.finish(v.call.steps)))
	}
	return errs
}

// flat are the steps, with those of Compose in its place.
func flat(several []*Call) (all []*Call) {
	for _, s := range several {
		if s != nil && s.Kind == Compose {
			all = append(all, flat(s.steps)...)
		} else {
			all = append(all, s)
		}
	}
	return all
}

// withViews puts the fields of the views into the spec. The first takes the place of the
// field of the images, which have w×h pixels. Zeros mean that their size varies.
func (p *Program) withViews(spec dataset.Spec, field, w, h int) (dataset.Spec, error) {
	var errs []error
	given := slices.Clone(spec)
	p.Views = nil
	for i, v := range p.groups {
		f, err := v.program.fieldOf(w, h)
		if v.target != p.Field && given.Index(v.target) >= 0 {
			err = errors.Join(err, errors.New("the dataset has a field of that name"))
		}
		if err != nil {
			errs = append(errs, within(v.place, err))
			continue
		}
		f.Shape = append(dataset.Shape{v.N}, f.Shape...)
		if v.At = field; i > 0 {
			v.At = len(spec)
			spec = append(spec, f)
		}
		spec[v.At] = f
		v.Plan = &v.program.Plan
		p.Views = append(p.Views, v.Views)
	}
	errs = append(errs, spec.Validate())
	return spec, errors.Join(errs...)
}

// ViewLines describes the views in the plan.
func (p *Program) ViewLines(spec dataset.Spec) string {
	var text strings.Builder
	for _, v := range p.groups {
		fmt.Fprintf(&text, "  views     %v\n", spec[v.At])
		for _, line := range v.program.Lines {
			text.WriteString("    " + line + "\n")
		}
		text.WriteString("    store     " + v.program.Output.String() + "\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}
