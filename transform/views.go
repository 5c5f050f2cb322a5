package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/steps"
)

// Views makes n results of every image, each with draws of its own, as contrastive
// learning needs them: SimCLR takes Views(2, …). The field of the result has the shape
// (n, 3, h, w), and a batch of b images (b, n, 3, h, w). All results must have the same
// size.
//
// Several Views with fields of their own ([ViewGroup.As]) make groups of different
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
func Views(n int, several ...Step) ViewGroup { return ViewGroup{n: n, several: several} }

// ViewGroup is the step that [Views] makes.
type ViewGroup struct {
	n       int
	several []Step
	field   string
}

// As sets the field of the result. The default is the field of the images.
func (s ViewGroup) As(field string) ViewGroup {
	s.field = field
	return s
}

// String prints the call that made the step.
func (s ViewGroup) String() string {
	text := steps.Call("Views", s.n, steps.Join(s.several))
	if s.field != "" {
		text += fmt.Sprintf(".As(%q)", s.field)
	}
	return text
}

// maxViews is the limit of views in a group.
const maxViews = 1024

func (s ViewGroup) add(p *program) error {
	if s.n < 1 || s.n > maxViews {
		return fmt.Errorf("want 1 to %d views", maxViews)
	}
	if slices.Contains(s.several, nil) {
		return errors.New("a step is nil")
	}
	if err := p.notNested(); err != nil {
		return err
	}
	p.views = append(p.views, views{ViewGroup: s})
	return nil
}

// views are the results of a ViewGroup.
type views struct {
	ViewGroup
	program *program
	at      int // of the field in the results
	layout
	made  dataset.Spec // what each view makes of the dataset's fields
	parts []viewPart
}

// compileViews compiles the steps of all groups with the settings of p.
func (p *program) compileViews() []error {
	if len(p.views) == 0 {
		return nil
	}
	var errs []error
	if len(p.ops) > 0 || p.output.tensor || p.output.axes != 0 || p.ragged || p.sizes != "" || p.hands > 0 {
		errs = append(errs, errors.New("transform: Views: want all steps that change the image or the result among those of Views, without Ragged and Sizes"))
	}
	for i := range p.views {
		v := &p.views[i]
		if v.field == "" {
			v.field = p.field
		}
		inner := p.inner(v.field)
		if err := inner.finish(v.several); err != nil {
			errs = append(errs, fmt.Errorf("transform: %v: %w", v.ViewGroup, err))
		}
		if p.sets(inner, v.field) {
			errs = append(errs, fmt.Errorf("transform: %v: %s: want settings outside, and no Ragged, Sizes, Boxes, Mask, Masks, KeyPoints and Views in it", v.ViewGroup, steps.Join(p.outside(v))))
		}
		v.program = inner
	}
	return errs
}

// inner is the program of views before their steps.
func (p *program) inner(field string) *program {
	return &program{field: field, limit: p.limit, pillow: p.pillow, cut: p.cut, annotated: p.annotated, deep: p.deep.copy()}
}

// sets reports whether the program of views has what belongs outside of them.
func (p *program) sets(inner *program, field string) bool {
	return inner.field != field || inner.limit != p.limit || inner.pillow != p.pillow || inner.cut != p.cut || inner.upright ||
		inner.ragged || inner.sizes != "" || inner.hands > 0 || len(inner.names()) > len(p.names()) ||
		len(inner.views) > 0 && inner.crops.n == 0 || len(inner.formats) > 0 || inner.deep != nil && p.deep == nil
}

// outside lists the steps of the views that belong outside.
func (p *program) outside(v *views) (found []Step) {
	for _, s := range v.several {
		inner := p.inner(v.field)
		inner.addAll([]Step{s})
		if p.sets(inner, v.field) {
			found = append(found, s)
		}
	}
	return found
}

// withViews puts the fields of the views into the spec. The first takes the place of the
// field of the images, which have w×h pixels. Zeros mean that their size varies.
func (p *program) withViews(spec dataset.Spec, field, w, h int) (dataset.Spec, error) {
	var errs []error
	given := slices.Clone(spec)
	for i := range p.views {
		v := &p.views[i]
		f, err := v.program.resultOf(w, h)
		if err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", v.ViewGroup, err))
			continue
		}
		f.Shape = append(tensor.Shape{v.n}, f.Shape...)
		if v.at = field; i > 0 {
			v.at = len(spec)
			spec = append(spec, f)
		}
		spec[v.at] = f
		if spec, err = v.withParts(spec, given, p.field, i == 0); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", v.ViewGroup, err))
		}
	}
	errs = append(errs, spec.Validate())
	return spec, errors.Join(errs...)
}

// viewLines describes the views in the plan.
func (p *program) viewLines(spec dataset.Spec) string {
	var text strings.Builder
	for _, v := range p.views {
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
