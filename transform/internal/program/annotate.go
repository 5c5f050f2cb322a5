package program

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// annotated are the fields of a sample that move with its image.
type annotated struct {
	parts   []part
	format  dataset.Kind // of the boxes in the results
	removes bool         // SanitizeKeyPoints was there
}

// A part is a field that moves with the image: boxes, keypoints, a mask or masks.
type part struct {
	*Call // the option that declares it
	field string
	boxes dataset.Kind // the format of boxes in the dataset; 0 for others
	rows  []string     // fields with a row per element
	mask  engine.MaskAt
}

// String prints the option with the rows that the dataset says.
func (s part) String() string {
	if s.isMask() || len(s.rows) == 0 {
		return s.Call.String()
	}
	return figures.Call(s.name, append(slices.Clone([]any(s.Args)), figures.Call("With", Texts(s.rows...)...))...)
}

func (s part) isMask() bool { return s.Kind == Mask || s.Kind == Masks }

func (a *annotated) any() bool { return len(a.parts) > 0 }

// has reports whether a field is declared by that option.
func (a *annotated) has(k *Kind) bool {
	return slices.ContainsFunc(a.parts, func(s part) bool { return s.Kind == k })
}

// declared reports whether a field moves with the image.
func (a *annotated) declared(field string) bool {
	return slices.ContainsFunc(a.parts, func(s part) bool { return s.field == field })
}

// maskAt is which of the masks a field is, or -1.
func (a *annotated) maskAt(field string) int {
	n := 0
	for _, s := range a.parts {
		if s.isMask() && s.field == field {
			return n
		}
		if s.isMask() {
			n++
		}
	}
	return -1
}

// Settings that declare fields.
var (
	Boxes     = declaring("Boxes", []*Kind{Rows})
	KeyPoints = declaring("KeyPoints", []*Kind{Rows})
	Mask      = declaring("Mask", []*Kind{Fill, Dtype, SegmentIDs})
	Masks     = declaring("Masks", []*Kind{Fill, Dtype})
)

func declaring(name string, takes []*Kind) *Kind {
	return &Kind{name: name, takes: takes, several: true, add: func(p *Program, c *Call) error { return p.declare(c) }}
}

// declare adds the field of Boxes, KeyPoints, Mask or Masks.
func (p *Program) declare(c *Call) error {
	s := part{Call: c, field: c.Args.text(0), rows: c.option(Rows).texts()}
	switch {
	case s.field == "":
		return errors.New("want a field's name")
	case p.declared(s.field):
		return errors.New("the field is declared already")
	}
	for i, r := range s.rows {
		if r == "" || r == s.field || slices.Contains(s.rows[:i], r) {
			return fmt.Errorf("want other fields, each once, not %q", r)
		}
	}
	if c.name == "Boxes" {
		s.boxes = c.Args[1].(dataset.Kind)
		if err := checkFormat(s.boxes); err != nil {
			return err
		}
		for _, other := range p.parts {
			if other.boxes != 0 {
				return fmt.Errorf("must come only once: field %q holds boxes, too (dataset.Select leaves fields out)", other.field)
			}
		}
	}
	s.mask = engine.MaskAt{Name: s.field, Several: c.name == "Masks", Ids: c.has(SegmentIDs), Dtype: optionOf(c, Dtype, dataset.Dtype(0))}
	if fill := of[float64](c.option(Fill)); len(fill) > 0 {
		if s.mask.Outside = uint16(fill[0]); len(fill) > 1 || float64(s.mask.Outside) != fill[0] {
			return errors.New("want a Fill of one whole number from 0 to 65535")
		}
	}
	p.parts = append(p.parts, s)
	if c.has(Dtype) {
		return s.checkDtype()
	}
	return nil
}

func checkFormat(k dataset.Kind) error {
	return want(isBoxes(k), "dataset.BoxesXYXY, BoxesXYWH or BoxesCXCYWH, not %v", k)
}

// isBoxes reports whether a kind of fields is one of boxes.
func isBoxes(k dataset.Kind) bool { return k >= dataset.BoxesXYXY && k <= dataset.BoxesCXCYWH }

// findKinds declares the fields of the dataset whose kinds say that they belong to the image, unless
// options have declared them. What those leave open is as the kinds say.
func (p *Program) findKinds(spec dataset.Spec) error {
	var errs []error
	for _, boxes := range []bool{true, false} { // to which other fields may belong
		for _, f := range spec {
			c := impliedBy(f)
			if c == nil || isBoxes(f.Kind) != boxes || f.Name == p.Field || p.declared(f.Name) {
				continue
			}
			byBox := slices.ContainsFunc(p.parts, func(s part) bool { return s.boxes != 0 && s.field == f.Of })
			if f.Of == "" || f.Of == p.Field || byBox {
				errs = append(errs, within(c.String(), c.add(p, c)))
			}
		}
	}
	order := []*Kind{Boxes, KeyPoints, Mask, Masks}
	slices.SortStableFunc(p.parts, func(a, b part) int {
		return min(slices.Index(order, a.Kind), 2) - min(slices.Index(order, b.Kind), 2)
	})
	for i := range p.parts {
		s := &p.parts[i]
		line := ""
		if s.isMask() {
			line = ", nearest, only the rows that are kept"
			if at := spec.Index(s.field); at >= 0 {
				errs = append(errs, within(s.String(), s.take(spec[at])))
			}
		} else {
			s.findRows(spec, p)
		}
		if s.boxes != 0 {
			p.format = s.boxes
		}
		p.Lines = append(p.Lines, "move      "+s.String()+line)
	}
	return errors.Join(errs...)
}

// impliedBy is the option that a field's kind stands for, or nil.
func impliedBy(f dataset.Field) *Call {
	switch name := Text(f.Name); f.Kind {
	case dataset.BoxesXYXY, dataset.BoxesXYWH, dataset.BoxesCXCYWH:
		return New(Boxes, nil, name, f.Kind)
	case dataset.KeyPoints:
		return New(KeyPoints, nil, name)
	case dataset.Mask, dataset.Segments:
		return New(Mask, nil, name)
	case dataset.Masks:
		return New(Masks, nil, name)
	}
	return nil
}

// findRows adds the fields of the dataset that say that they have a row per element of the field.
// Masks have planes, which move with the boxes in another way.
func (s *part) findRows(spec dataset.Spec, p *Program) {
	for _, f := range spec {
		if f.Of == s.field && f.Kind != dataset.Masks && p.maskAt(f.Name) < 0 && !slices.Contains(s.rows, f.Name) {
			s.rows = append(slices.Clip(s.rows), f.Name)
		}
	}
}

// take makes what the option leaves open as the dataset's field has it.
func (s *part) take(f dataset.Field) error {
	m := &s.mask
	m.Ids = m.Ids || f.Kind == dataset.Segments && !m.Several
	switch {
	case s.has(Dtype):
	case m.Ids:
		m.Dtype = dataset.Int32
	case f.Ragged:
		m.Dtype = dataset.Uint8
	default:
		m.Dtype = f.Dtype
	}
	return s.checkDtype()
}

// checkDtype is the error of a dtype of the result.
func (s *part) checkDtype() error {
	switch m := s.mask; {
	case !isNumber(m.Dtype):
		return errors.New("want dataset.Uint8, dataset.Uint16, dataset.Int32 or dataset.Int64")
	case m.Dtype == dataset.Uint8 && m.Outside > 255:
		return fmt.Errorf("want a Fill up to 255 for uint8, not %d", m.Outside)
	case m.Ids && m.Dtype.Size() < 4:
		return errors.New("SegmentIDs want Dtype(dataset.Int32) or Dtype(dataset.Int64)")
	}
	return nil
}

// isNumber reports whether masks may have numbers of that dtype.
func isNumber(dt dataset.Dtype) bool {
	return dt == dataset.Uint8 || dt == dataset.Uint16 || dt == dataset.Int32 || dt == dataset.Int64
}

// annotate finds the fields in the spec, and returns how to read and store them, with the
// spec of the results. Errors name the fields of given, the dataset's.
func (p *Program) annotate(spec, given dataset.Spec) (engine.Layout, dataset.Spec, error) {
	l := engine.Layout{Boxes: -1}
	n := naming{spec: spec, given: given, images: p.Field}
	for _, s := range p.parts {
		if f := n.find(s, s.field); f >= 0 {
			n.place(s, f, &l, p.removes)
		}
	}
	if len(n.errs) > 0 {
		return l, spec, errors.Join(n.errs...)
	}
	if l.Boxes >= 0 {
		spec[l.Boxes].Kind = p.format
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

// wrong adds a mistake of an option.
func (n *naming) wrong(s part, format string, args ...any) {
	n.errs = append(n.errs, fmt.Errorf("%v: %s", s, fmt.Sprintf(format, args...)))
}

// find is the index of a field, or -1 after a mistake.
func (n *naming) find(s part, field string) int {
	f := n.spec.Index(field)
	if f < 0 {
		n.wrong(s, "the dataset has no field %q, only %v", field, n.given)
	} else if field == n.images {
		n.wrong(s, "that is the field of the images")
		f = -1
	}
	return f
}

// place adds field f, which holds the part, to l. Removes says that SanitizeKeyPoints is there.
func (n *naming) place(s part, f int, l *engine.Layout, removes bool) {
	field := n.spec[f]
	last := len(field.Shape) - 1
	switch {
	case s.isMask():
		n.placeMask(s, f, l)
	case s.boxes != 0:
		if !field.Ragged || field.Dtype != dataset.Float32 || field.Elements() != 4 {
			n.wrong(s, "field %v: want ragged float32 (n, 4)", field)
		}
		l.Boxes, l.Rows, l.Format = f, n.rows(s), s.boxes
	case field.Dtype != dataset.Float32 || last < 0 || field.Shape[last] != 2 && field.Shape[last] != 3:
		n.wrong(s, "field %v: want float32 whose last dimension is x and y, or x, y and visibility", field)
	case removes && (!field.Ragged || slices.Contains(l.Rows, f)):
		n.wrong(s, "field %v: SanitizeKeyPoints wants a ragged field that does not belong to boxes", field)
	default:
		l.Points = append(l.Points, engine.PointsAt{Field: f, Step: field.Shape[last], Size: field.Elements(), Rows: n.rows(s)})
	}
}

// placeMask adds a field of masks to l.
func (n *naming) placeMask(s part, index int, l *engine.Layout) {
	at, f := s.mask, n.spec[index]
	at.Field, at.Size = index, 1
	file := f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1
	switch {
	case file:
	case at.Several || at.Ids:
		n.wrong(s, "field %v: want ragged uint8", f)
	case f.Ragged || len(f.Shape) != 2 || !isNumber(f.Dtype):
		n.wrong(s, "field %v: want ragged uint8, or uint8, uint16, int32 or int64 (h, w)", f)
	case f.Dtype.Size() > at.Dtype.Size():
		n.wrong(s, "field %v: want a Dtype that holds %s", f, f.Dtype)
	default:
		at.Size, at.W, at.H = f.Dtype.Size(), f.Shape[1], f.Shape[0]
	}
	l.Masks = append(l.Masks, at)
}

// rows finds the fields that have a row per element of another one.
func (n *naming) rows(s part) (all []int) {
	for _, name := range s.rows {
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

// PassLine is the plan's line of the fields that stay as they are: those that do not belong to the
// image, and that no step of the user's own sees.
func (p *Program) PassLine(spec dataset.Spec) string {
	seen := []string{p.Field}
	for _, s := range p.parts {
		seen = append(append(seen, s.field), s.rows...)
	}
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

// Steps that change boxes and keypoints, and not the image.
var (
	ConvertBoundingBoxFormat = result("ConvertBoundingBoxFormat", func(p *Program, c *Call) error {
		to := c.Args[0].(dataset.Kind)
		if err := checkFormat(to); err != nil {
			return err
		}
		p.format = to
		return p.marks(Boxes, c, func(a *engine.Annotations) { a.Convert(to) })
	})
	ClampBoundingBoxes = result("ClampBoundingBoxes", func(p *Program, c *Call) error {
		return p.marks(Boxes, c, (*engine.Annotations).ClampBoxes)
	})
	SanitizeBoundingBoxes = &Kind{name: "SanitizeBoundingBoxes", takes: []*Kind{MinSize, MinArea}, add: func(p *Program, c *Call) error {
		size, area := float32(optionOf(c, MinSize, 1.0)), float32(optionOf(c, MinArea, 1.0))
		return p.marks(Boxes, c, func(a *engine.Annotations) { a.Sanitize(size, area) })
	}}
	SanitizeKeyPoints = result("SanitizeKeyPoints", func(p *Program, c *Call) error {
		p.removes = true
		return p.marks(KeyPoints, c, (*engine.Annotations).RemoveOutside)
	})
	ClampKeyPoints = result("ClampKeyPoints", func(p *Program, c *Call) error { return p.marks(KeyPoints, c, (*engine.Annotations).ClampPoints) })
	RandomIoUCrop  = &Kind{name: "RandomIoUCrop", takes: []*Kind{Scale, Ratio}, add: func(p *Program, c *Call) error {
		if err := p.need(Boxes); err != nil {
			return err
		}
		crop := engine.IouCrop{Scale: c.span(Scale, 0.3, 1), Ratio: c.span(Ratio, 0.5, 2)}
		if crop.Scale.Greatest > 1 {
			return errors.New("want a Scale up to 1")
		}
		return p.geometry(c, crops, varies, crop.Move)
	}}
)

// A marking is the operation of a step that changes annotations and not the image.
type marking func(a *engine.Annotations)

// Do runs it.
func (mark marking) Do(e *engine.Engine, _ *rand.Rand) error {
	mark(e.Annotations)
	return nil
}

// need is the error of a step of boxes or keypoints that comes too late, or without a field that the option k declares.
func (p *Program) need(k *Kind) error {
	if !p.has(k) {
		return fmt.Errorf("want %s, or a dataset that says which field they are", k.name)
	}
	return p.beforeTensor()
}

// marks adds a step that changes the boxes or the keypoints.
func (p *Program) marks(of *Kind, c *Call, mark marking) error {
	if err := p.need(of); err != nil {
		return err
	}
	p.endRun()
	p.Lines = append(p.Lines, map[*Kind]string{Boxes: "boxes     ", KeyPoints: "points    "}[of]+c.String())
	p.Ops = append(p.Ops, mark)
	return nil
}
