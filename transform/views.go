package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// Views makes n results of every image, each with draws of its own, as contrastive
// learning needs them: SimCLR takes Views(2, …). The field of the result has the shape
// (n, 3, h, w), and a batch of b images (b, n, 3, h, w). All results must have the same
// size.
//
// Several Views with fields of their own ([As]) make groups of different
// sizes, as multi-crop does (SwAV, DINO). Every image is read and decoded once for all
// of them: the smallest window in which all their crops are.
//
// Steps that change the image or say what the result is must be among those of Views.
// Settings such as [Field], [MaxPixels] and [ExifTranspose] are steps next to it, and so
// are [Boxes], [Mask], [Masks] and [KeyPoints]: the annotations move with each view.
//
// With [FiveCrop] or [TenCrop] among its steps, every view has that many crops: the shape is
// (n, 5, 3, h, w). They share the draws of their view.
//
// A fixed field of annotations has the shape (n, …) too. In a ragged one the rows of the
// first view come first, then those of the second, and so on. How many each view has is in
// a further field, int64 (n): "boxes_counts" for boxes named "boxes" and all fields With
// them. A group with a field of its own has its name before all of these: "local_boxes" and
// "local_boxes_counts" in a group with As("local").
func Views(n int, list ...Item) Step {
	several, options, err := divide(list)
	c := calling("Views", keyAs, arguments{}, options, slices.Concat([]any{n}, figures.Anys(several))...)
	c.mistake = errors.Join(err, c.mistake)
	return viewGroup{c, n, several}
}

type viewGroup struct {
	*call
	n       int
	several []Step
}

func (s viewGroup) brief() string {
	return figures.Call("Views", slices.Concat([]any{s.n, "…"}, figures.Anys(s.options))...)
}

// maxViews is the limit of views in a group.
const maxViews = 1024

func (s viewGroup) add(p *program) error {
	if s.n < 1 || s.n > maxViews {
		return fmt.Errorf("want 1 to %d views", maxViews)
	}
	if err := p.notNested(); err != nil {
		return err
	}
	p.views = append(p.views, views{viewGroup: s})
	return nil
}

// views are the results of Views.
type views struct {
	viewGroup
	crops   bool   // the steps after FiveCrop or TenCrop, not those of Views
	place   string // of their mistakes
	target  string // the field of the results
	program *program
	at      int // of the field in the results
	layout
	made  dataset.Spec // what each view makes of the dataset's fields
	parts []viewPart
}

// compileViews compiles the steps of all groups with the settings of p, which the given steps
// have made.
func (p *program) compileViews(given []Step) (errs []error) {
	if len(p.views) == 0 {
		return nil
	}
	if p.ragged || p.sizes != "" {
		errs = append(errs, errors.New("want no Ragged and Sizes with Views, whose results all have one size"))
	}
	for _, s := range flat(given) {
		if err := p.nextToViews(s); err != nil {
			errs = append(errs, within(nameOf(s), err))
		}
	}
	seen := map[string]string{}
	for i := range p.views {
		v := &p.views[i]
		v.place, v.target = v.brief(), v.field
		if v.target == "" {
			v.target = p.field
		}
		if before, ok := seen[v.target]; ok {
			errs = append(errs, fmt.Errorf("%s: want As with another field than that of %s", v.place, before))
		}
		seen[v.target] = v.place
		var list []Step
		for _, s := range flat(v.several) {
			if err := p.amongViews(s, v.target); err != nil {
				errs = append(errs, within(v.place, within(nameOf(s), err)))
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
func flat(several []Step) (all []Step) {
	for _, s := range several {
		if l, ok := s.(list); ok {
			all = append(all, flat(l.steps)...)
		} else if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// nextToViews is the error of a step that cannot be next to Views.
func (p *program) nextToViews(s Step) error {
	for _, late := range []bool{false, true} { // some steps must come before ToTensor, others after it
		q := p.inner(p.field)
		q.output.tensor, q.output.float, q.output.channels, q.output.dtype = late, late, 3, dataset.Float32
		if p.deep != nil {
			q.output.channels, q.output.deep = p.deep.channels, true
		}
		s.add(q) // other mistakes have been reported
		if len(q.ops) > 0 || q.output.tensor != late || q.output.cast || len(q.output.calls) > 0 {
			return errors.New("must be among the steps of Views")
		}
	}
	return nil
}

// amongViews is the error of a step that cannot be among those of views.
func (p *program) amongViews(s Step, field string) error {
	q := p.inner(field)
	s.add(q) // other mistakes are reported later
	switch {
	case len(q.views) > 0:
		return errors.New("not within Views: several Views stand next to each other")
	case q.upright:
		return errors.New("must be next to Views, not among its steps")
	}
	return nil
}

// inner is the program of views before their steps.
func (p *program) inner(field string) *program {
	q := &program{field: field, limit: p.limit, pillow: p.pillow, cut: p.cut, codecs: p.codecs, annotated: p.annotated, deep: p.deep.copy()}
	q.output.axes = p.output.axes
	return q
}

// withViews puts the fields of the views into the spec. The first takes the place of the
// field of the images, which have w×h pixels. Zeros mean that their size varies.
func (p *program) withViews(spec dataset.Spec, field, w, h int) (dataset.Spec, error) {
	var errs []error
	given := slices.Clone(spec)
	for i := range p.views {
		v := &p.views[i]
		f, err := v.program.resultOf(w, h)
		if v.target != p.field && given.Index(v.target) >= 0 {
			err = errors.Join(err, errors.New("the dataset has a field of that name"))
		}
		if err != nil {
			if !v.crops {
				err = within(v.place, err)
			}
			errs = append(errs, err)
			continue
		}
		f.Shape = append(dataset.Shape{v.n}, f.Shape...)
		if v.at = field; i > 0 {
			v.at = len(spec)
			spec = append(spec, f)
		}
		spec[v.at] = f
		if spec, err = v.withParts(spec, given, p.field, i == 0); err != nil {
			return spec, errors.Join(append(errs, err)...) // of fields, and so of all groups
		}
	}
	errs = append(errs, spec.Validate())
	return spec, errors.Join(errs...)
}

// viewLines describes the views in the plan.
func (p *program) viewLines(spec dataset.Spec) string {
	var text strings.Builder
	for _, v := range p.views {
		if v.crops {
			return "  store     " + v.program.output.String()
		}
		fmt.Fprintf(&text, "  views     %v\n", spec[v.at])
		for _, part := range v.parts {
			fmt.Fprintf(&text, "    part      %v\n", spec[part.to])
		}
		for _, line := range v.program.plan {
			text.WriteString("    " + line + "\n")
		}
		text.WriteString("    store     " + v.program.output.String() + "\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}
