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
	crops   bool   // the steps after FiveCrop or TenCrop, not those of Views
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
	if n < 1 || n > maxViews {
		return fmt.Errorf("want 1 to %d views", maxViews)
	}
	if err := p.notNested(); err != nil {
		return err
	}
	p.groups = append(p.groups, &group{call: c, Views: engine.Views{N: n}})
	return nil
}}

// compileViews compiles the steps of all groups with the settings of p, which the given steps
// have made.
func (p *Program) compileViews(given []*Call) (errs []error) {
	if len(p.groups) == 0 {
		return nil
	}
	if p.Ragged || p.Sizes != "" {
		errs = append(errs, errors.New("want no Ragged and Sizes with Views, whose results all have one size"))
	}
	for _, s := range flat(given) {
		if err := p.nextToViews(s); err != nil {
			errs = append(errs, within(s.nameOf(), err))
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
		var list []*Call
		for _, s := range flat(v.call.steps) {
			if err := p.amongViews(s, v.target); err != nil {
				errs = append(errs, within(v.place, within(s.nameOf(), err)))
			} else {
				list = append(list, s)
			}
		}
		v.program = p.inner(v.target)
		errs = append(errs, within(v.place, v.program.finish(list)))
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

// nextToViews is the error of a step that cannot be next to Views.
func (p *Program) nextToViews(s *Call) error {
	if s == nil {
		return nil // which has been reported
	}
	for _, late := range []bool{false, true} { // some steps must come before ToTensor, others after it
		q := p.inner(p.Field)
		q.Output.Tensor, q.Output.Float, q.Output.Channels, q.Output.Dtype = late, late, 3, dataset.Float32
		if p.Deep != nil {
			q.Output.Channels, q.Output.Deep = p.Deep.Channels, true
		}
		s.add(q, s) // other mistakes have been reported
		if len(q.Ops) > 0 || q.Output.Tensor != late || q.Output.Cast || len(q.Output.Calls) > 0 {
			return errors.New("must be among the steps of Views")
		}
	}
	return nil
}

// amongViews is the error of a step that cannot be among those of views.
func (p *Program) amongViews(s *Call, field string) error {
	if s == nil {
		return nil // which is reported later
	}
	q := p.inner(field)
	s.add(q, s) // other mistakes are reported later
	switch {
	case len(q.groups) > 0:
		return errors.New("not within Views: several Views stand next to each other")
	case q.Upright:
		return errors.New("must be next to Views, not among its steps")
	}
	return nil
}

// inner is the program of views before their steps.
func (p *Program) inner(field string) *Program {
	q := &Program{Plan: engine.Plan{Field: field, Limit: p.Limit, Pillow: p.Pillow, Cut: p.Cut, Codecs: p.Codecs, Deep: p.Deep.Copy()}, annotated: p.annotated}
	q.Output.Axes = p.Output.Axes
	return q
}

// withViews puts the fields of the views into the spec. The first takes the place of the
// field of the images, which have w×h pixels. Zeros mean that their size varies.
func (p *Program) withViews(spec dataset.Spec, field, w, h int) (dataset.Spec, error) {
	var errs []error
	given := slices.Clone(spec)
	p.Views = nil
	for i, v := range p.groups {
		f, err := v.program.resultOf(w, h)
		if v.target != p.Field && given.Index(v.target) >= 0 {
			err = errors.Join(err, errors.New("the dataset has a field of that name"))
		}
		if err != nil {
			if !v.crops {
				err = within(v.place, err)
			}
			errs = append(errs, err)
			continue
		}
		f.Shape = append(dataset.Shape{v.N}, f.Shape...)
		if v.At = field; i > 0 {
			v.At = len(spec)
			spec = append(spec, f)
		}
		spec[v.At] = f
		if spec, err = v.withParts(spec, given, p.Field, i == 0); err != nil {
			return spec, errors.Join(append(errs, err)...) // of fields, and so of all groups
		}
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
		if v.crops {
			return "  store     " + v.program.Output.String()
		}
		fmt.Fprintf(&text, "  views     %v\n", spec[v.At])
		for _, part := range v.Parts {
			fmt.Fprintf(&text, "    part      %v\n", spec[part.To])
		}
		for _, line := range v.program.Lines {
			text.WriteString("    " + line + "\n")
		}
		text.WriteString("    store     " + v.program.Output.String() + "\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// withParts adds the fields of the annotations to the spec of the results. Those of the
// first group take the places of the fields that they come from.
func (v *group) withParts(spec, given dataset.Spec, images string, first bool) (dataset.Spec, error) {
	if !v.program.any() {
		return spec, nil
	}
	var err error
	if v.Layout, v.Made, err = v.program.annotate(slices.Clone(given), given, images); err != nil {
		return spec, err
	}
	prefix := ""
	if v.target != images {
		prefix = v.target + "_"
	}
	fields, heads := v.Layout.Fields()
	counted := dataset.Spec{}
	for k, from := range fields {
		f := v.Made[from]
		part := engine.ViewPart{From: from, To: from, Row: f.Bytes(), Counts: -1}
		f.Name, f.Kind, f.Of = prefix+f.Name, dataset.Plain, "" // of several images
		if !f.Ragged {
			f.Shape = append(dataset.Shape{v.N}, f.Shape...)
		}
		if first {
			spec[from] = f
		} else {
			part.To = len(spec)
			spec = append(spec, f)
		}
		if f.Ragged && heads[k] {
			part.Counts = len(counted)
			counted = append(counted, dataset.Field{Name: f.Name + "_counts", Dtype: dataset.Int64, Shape: dataset.Shape{v.N}})
		}
		v.Parts = append(v.Parts, part)
	}
	for k := range v.Parts {
		if p := &v.Parts[k]; p.Counts >= 0 {
			p.Counts += len(spec)
		}
	}
	return append(spec, counted...), nil
}
