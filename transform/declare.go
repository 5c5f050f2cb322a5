package transform

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/steps"
)

// An annotated says which fields of a sample move with its image.
type annotated struct {
	boxes  []boxField // at most one
	masks  []maskField
	points []pointField

	removes bool     // SanitizeKeyPoints was there
	passed  []string // fields that PassThrough names
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
		return errors.New("want Boxes")
	}
	return p.beforeTensor()
}

// declare checks an option that names a field, and that the name is new.
func (p *program) declare(field string) error {
	if field == "" {
		return errors.New("want a field's name")
	}
	if slices.Contains(p.names(), field) {
		return errors.New("the field is declared already")
	}
	return nil
}

// names are the fields that have been declared.
func (a *annotated) names() []string {
	var names []string
	for _, b := range a.boxes {
		names = append(names, b.name)
	}
	for _, m := range a.masks {
		names = append(names, m.name)
	}
	for _, k := range a.points {
		names = append(names, k.name)
	}
	return names
}

// calls are the steps that have declared them.
func (a *annotated) calls() []string {
	var calls []string
	for _, b := range a.boxes {
		calls = append(calls, b.String())
	}
	for _, m := range a.masks {
		calls = append(calls, m.String())
	}
	for _, k := range a.points {
		calls = append(calls, k.String())
	}
	return calls
}

// annotate finds the fields in the spec, and returns how to read and store them, with the
// spec of the results. Errors name the fields of given, the dataset's.
func (p *program) annotate(spec, given dataset.Spec, images string) (layout, dataset.Spec, error) {
	l := layout{boxes: -1}
	n := naming{spec: spec, given: given, images: images}
	for _, b := range p.annotated.boxes {
		f := n.find(b, b.name)
		if f < 0 {
			continue
		}
		if s := spec[f]; !s.Ragged || s.Dtype != dataset.Float32 || s.Elements() != 4 {
			n.wrong(b, "field %v: want ragged float32 (n, 4)", s)
		}
		l.boxes = f
		l.rows = n.rows(b, b.rows)
	}
	for _, k := range p.annotated.points {
		f := n.find(k, k.name)
		if f < 0 {
			continue
		}
		s := spec[f]
		last := len(s.Shape) - 1
		if s.Dtype != dataset.Float32 || last < 0 || s.Shape[last] != 2 && s.Shape[last] != 3 {
			n.wrong(k, "field %v: want float32 whose last dimension is x and y, or x, y and visibility", s)
			continue
		}
		if p.removes && (!s.Ragged || slices.Contains(l.rows, f)) {
			n.wrong(k, "field %v: SanitizeKeyPoints wants a ragged field that does not belong to boxes", s)
		}
		l.points = append(l.points, pointsAt{f, s.Shape[last], s.Elements(), n.rows(k, k.rows)})
	}
	for _, b := range p.annotated.boxes {
		wrongs := p.unnamed(spec, b, images)
		for _, a := range b.apart {
			if n.find(b, a) >= 0 && slices.Contains(p.names(), a) {
				n.wrong(b, "field %q is declared by another step", a)
			}
		}
		if len(wrongs) > 0 {
			n.wrong(b, "ragged fields are not named: %s: want them With the boxes if they have a row per box, else Apart", strings.Join(wrongs, ", "))
		}
	}
	for _, m := range p.annotated.masks {
		f := n.find(m, m.name)
		if f < 0 {
			continue
		}
		at, err := m.at(f, spec[f])
		if err != nil {
			n.wrong(m, "%v", err)
			continue
		}
		spec[f] = m.result(p, spec[f])
		l.masks = append(l.masks, at)
	}
	return l, spec, errors.Join(n.errs...)
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

// unnamed are the ragged fields of the dataset that no step names.
func (p *program) unnamed(spec dataset.Spec, b boxField, images string) (names []string) {
	named := slices.Concat(p.names(), b.rows, b.apart, p.passed)
	for _, k := range p.annotated.points {
		named = append(named, k.rows...)
	}
	for _, f := range spec {
		if f.Ragged && f.Name != images && !slices.Contains(named, f.Name) {
			names = append(names, strconv.Quote(f.Name))
		}
	}
	return names
}

// A layout says where the annotations are in a slot.
type layout struct {
	boxes  int   // -1: none
	rows   []int // fields with a row per box
	points []pointsAt
	masks  []maskAt
}

// fieldCall formats a step that names a field.
func fieldCall(name, field string, more ...any) string {
	return steps.Call(name, append([]any{fmt.Sprintf("%q", field)}, more...)...)
}
