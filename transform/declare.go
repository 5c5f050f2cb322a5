package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// An annotated says which fields of a sample move with its image.
type annotated struct {
	boxes  []boxField // at most one
	masks  []maskField
	points []pointField

	format  BoxFormat // of the boxes in the results
	removes bool      // SanitizeKeyPoints was there
}

func (a *annotated) any() bool { return len(a.boxes)+len(a.masks)+len(a.points) > 0 }

// rigid is the error of a step that cannot say where boxes and keypoints go.
func (a *annotated) rigid() error {
	if len(a.boxes)+len(a.points) > 0 {
		return errors.New("not with Boxes or KeyPoints: only the mode constant")
	}
	return nil
}

// still is the error of a step that moves the image alone.
func (a *annotated) still() error {
	if a.any() {
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which it does not move")
	}
	return nil
}

func (p *program) needBoxes() error {
	if len(p.annotated.boxes) == 0 {
		return errors.New("want Boxes, or a dataset that says which field they are")
	}
	return p.beforeTensor()
}

// declare makes the option that declares a field: add checks it and adds it to the program.
func declare(c *call, field string, add func(p *program) error) Option {
	return Option{call: c, several: true, use: func(p *program) error {
		if field == "" {
			return errors.New("want a field's name")
		}
		if slices.Contains(p.names(), field) {
			return errors.New("the field is declared already")
		}
		return add(p)
	}}
}

// names are the fields that have been declared.
func (a *annotated) names() []string {
	var names []string
	for _, b := range a.boxes {
		names = append(names, b.field)
	}
	for _, m := range a.masks {
		names = append(names, m.name)
	}
	for _, k := range a.points {
		names = append(names, k.field)
	}
	return names
}

// handled are the fields that move, and those that have a row per element of them.
func (a *annotated) handled() []string {
	names := a.names()
	for _, b := range a.boxes {
		names = append(names, b.rows...)
	}
	for _, k := range a.points {
		names = append(names, k.rows...)
	}
	return names
}

// calls are the options that declare the fields.
func (a *annotated) calls() []string {
	var calls []string
	for _, b := range a.boxes {
		calls = append(calls, b.String())
	}
	for _, k := range a.points {
		calls = append(calls, k.String())
	}
	for _, m := range a.masks {
		calls = append(calls, m.String())
	}
	return calls
}

// findKinds declares the fields of the dataset whose kinds say that they belong to the image, unless
// options have declared them. What those leave open is as the kinds say.
func (p *program) findKinds(spec dataset.Spec) error {
	var errs []error
	owner := func(f dataset.Field) bool { return f.Of == "" || f.Of == p.Field }
	for _, f := range spec {
		if format, ok := formatOf(f.Kind); ok && p.implied(f) && owner(f) {
			o := Boxes(f.Name, format)
			errs = append(errs, within(o.String(), o.use(p)))
		}
	}
	for i := range p.annotated.boxes {
		b := &p.annotated.boxes[i]
		b.rows = withRows(b.rows, b.field, spec)
		p.annotated.format = b.format
	}
	for _, f := range spec {
		byBox := slices.ContainsFunc(p.annotated.boxes, func(b boxField) bool { return b.field == f.Of })
		if !p.implied(f) || !owner(f) && !byBox {
			continue
		}
		switch f.Kind {
		case dataset.KeyPoints:
			errs = append(errs, KeyPoints(f.Name).use(p))
		case dataset.Mask, dataset.Segments:
			errs = append(errs, Mask(f.Name).use(p))
		case dataset.Masks:
			errs = append(errs, Masks(f.Name).use(p))
		}
	}
	for i := range p.annotated.points {
		k := &p.annotated.points[i]
		k.rows = withRows(k.rows, k.field, spec)
	}
	for i := range p.annotated.masks {
		m := &p.annotated.masks[i]
		if at := spec.Index(m.name); at >= 0 {
			errs = append(errs, within(m.String(), m.Take(spec[at])))
		}
	}
	for _, text := range p.annotated.calls() {
		if strings.HasPrefix(text, "Mask") {
			text += ", nearest, only the rows that are kept"
		}
		p.lines = append(p.lines, "move      "+text)
	}
	return errors.Join(errs...)
}

// implied reports whether a field is not the images', and no option declares it.
func (p *program) implied(f dataset.Field) bool {
	return f.Name != p.Field && !slices.Contains(p.names(), f.Name)
}

// withRows adds the fields of the dataset that say that they have a row per element of a field.
// Masks have planes, which move with the boxes in another way.
func withRows(rows []string, field string, spec dataset.Spec) []string {
	for _, f := range spec {
		if f.Of == field && f.Kind != dataset.Masks && !slices.Contains(rows, f.Name) {
			rows = append(slices.Clip(rows), f.Name)
		}
	}
	return rows
}

// annotate finds the fields in the spec, and returns how to read and store them, with the
// spec of the results. Errors name the fields of given, the dataset's.
func (p *program) annotate(spec, given dataset.Spec, images string) (engine.Layout, dataset.Spec, error) {
	l := engine.Layout{Boxes: -1}
	n := naming{spec: spec, given: given, images: images}
	for _, b := range p.annotated.boxes {
		n.findBoxes(b, &l)
	}
	for _, k := range p.annotated.points {
		n.findPoints(k, &l, p.removes)
	}
	for _, m := range p.annotated.masks {
		n.findMask(m, &l)
	}
	if len(n.errs) > 0 {
		return l, spec, errors.Join(n.errs...)
	}
	if l.Boxes >= 0 {
		spec[l.Boxes].Kind = p.annotated.format.kind()
	}
	for _, at := range l.Points {
		spec[at.Field].Kind = dataset.KeyPoints
	}
	for _, at := range l.Masks {
		spec[at.Field] = at.Result(p.Ragged, &p.Output, spec[at.Field])
	}
	return l, spec, nil
}

// naming finds the fields that steps name in a spec, and collects what is wrong with them.
type naming struct {
	spec, given dataset.Spec
	images      string // the field of the images
	taken       []int  // fields that have the rows of others
	errs        []error
}

// wrong adds a mistake of a step.
func (n *naming) wrong(s fmt.Stringer, format string, args ...any) {
	n.errs = append(n.errs, fmt.Errorf("%v: %s", s, fmt.Sprintf(format, args...)))
}

// find is the index of a field, or -1 after a mistake.
func (n *naming) find(s fmt.Stringer, field string) int {
	f := n.spec.Index(field)
	if f < 0 {
		n.wrong(s, "the dataset has no field %q, only %v", field, n.given)
	} else if field == n.images {
		n.wrong(s, "that is the field of the images")
		f = -1
	}
	return f
}

// findBoxes adds a field of boxes to l.
func (n *naming) findBoxes(b boxField, l *engine.Layout) {
	f := n.find(b, b.field)
	if f < 0 {
		return
	}
	if s := n.spec[f]; !s.Ragged || s.Dtype != dataset.Float32 || s.Elements() != 4 {
		n.wrong(b, "field %v: want ragged float32 (n, 4)", s)
	}
	l.Boxes, l.Rows, l.Format = f, n.rows(b, b.rows), engine.BoxFormat(b.format)
}

// findPoints adds a field of keypoints to l. Removes says that SanitizeKeyPoints is there.
func (n *naming) findPoints(k pointField, l *engine.Layout, removes bool) {
	f := n.find(k, k.field)
	if f < 0 {
		return
	}
	s := n.spec[f]
	last := len(s.Shape) - 1
	if s.Dtype != dataset.Float32 || last < 0 || s.Shape[last] != 2 && s.Shape[last] != 3 {
		n.wrong(k, "field %v: want float32 whose last dimension is x and y, or x, y and visibility", s)
		return
	}
	if removes && (!s.Ragged || slices.Contains(l.Rows, f)) {
		n.wrong(k, "field %v: SanitizeKeyPoints wants a ragged field that does not belong to boxes", s)
	}
	l.Points = append(l.Points, engine.PointsAt{Field: f, Step: s.Shape[last], Size: s.Elements(), Rows: n.rows(k, k.rows)})
}

// findMask adds a field of masks to l.
func (n *naming) findMask(m maskField, l *engine.Layout) {
	f := n.find(m, m.name)
	if f < 0 {
		return
	}
	at, err := m.at(f, n.spec[f])
	if err != nil {
		n.wrong(m, "%v", err)
	}
	l.Masks = append(l.Masks, at)
}

// rows finds the fields that have a row per element of another one.
func (n *naming) rows(s fmt.Stringer, names []string) (all []int) {
	for _, name := range names {
		r := n.find(s, name)
		if r < 0 {
			continue
		}
		if !n.spec[r].Ragged {
			n.wrong(s, "field %v: want a ragged field, with a row per element", n.spec[r])
		}
		if slices.Contains(n.taken, r) {
			n.wrong(s, "field %q has the rows of another field already", name)
		}
		all, n.taken = append(all, r), append(n.taken, r)
	}
	return all
}

// passLine is the plan's line of the fields that stay as they are: those that do not belong to the
// image, and that no step of the user's own sees.
func (p *program) passLine(spec dataset.Spec) string {
	seen := append(p.handled(), p.Field)
	for _, s := range p.samplings {
		seen = append(seen, s.Fields...)
	}
	for _, v := range p.groups {
		for _, s := range v.program.samplings {
			seen = append(seen, s.Fields...)
		}
	}
	var fields dataset.Spec
	for _, f := range spec {
		if !slices.Contains(seen, f.Name) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return "\n  pass on   " + fields.String()
}

// rowsCall formats an option that names a field, and fields with its rows.
func rowsCall(name, field string, rows []string, more ...any) string {
	args := append(quoted(field), more...)
	if len(rows) > 0 {
		args = append(args, figures.Call("With", quoted(rows...)...))
	}
	return figures.Call(name, args...)
}

// checkRows checks the fields that have a row per element of a field.
func checkRows(field string, rows []string) error {
	for i, r := range rows {
		if r == "" || r == field || slices.Contains(rows[:i], r) {
			return fmt.Errorf("want other fields, each once, not %q", r)
		}
	}
	return nil
}
