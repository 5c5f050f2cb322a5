package program

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

	format  dataset.Kind // of the boxes in the results
	removes bool         // SanitizeKeyPoints was there
}

func (a *annotated) any() bool { return len(a.boxes)+len(a.masks)+len(a.points) > 0 }

func (p *Program) needBoxes() error {
	if len(p.boxes) == 0 {
		return errors.New("want Boxes, or a dataset that says which field they are")
	}
	return p.beforeTensor()
}

// declaring is a kind of settings that declare a field: add checks it and adds it to the program.
func declaring(k Kind, add func(p *Program, c *Call, field string) error) *Kind {
	k.several = true
	k.add = func(p *Program, c *Call) error {
		field := c.Args.text(0)
		if field == "" {
			return errors.New("want a field's name")
		}
		if slices.Contains(p.names(), field) {
			return errors.New("the field is declared already")
		}
		return add(p, c, field)
	}
	return &k
}

// Settings that declare fields.
var (
	Boxes = declaring(Kind{name: "Boxes", takes: []*Kind{Rows}}, func(p *Program, c *Call, field string) error {
		format, rows := c.Args[1].(dataset.Kind), c.option(Rows).texts()
		if err := errors.Join(checkFormat(format), checkRows(field, rows)); err != nil {
			return err
		}
		if b := p.boxes; len(b) > 0 {
			return fmt.Errorf("must come only once: field %q holds boxes, too (dataset.Select leaves fields out)", b[0].field)
		}
		p.boxes = append(p.boxes, boxField{field, format, rows})
		return nil
	})
	KeyPoints = declaring(Kind{name: "KeyPoints", takes: []*Kind{Rows}}, func(p *Program, c *Call, field string) error {
		rows := c.option(Rows).texts()
		p.points = append(p.points, pointField{field, rows})
		return checkRows(field, rows)
	})
	Mask = declaring(Kind{name: "Mask", takes: []*Kind{Fill, Dtype, SegmentIDs}}, func(p *Program, c *Call, field string) error {
		return p.addMask(maskField{c, engine.MaskAt{Name: field}})
	})
	Masks = declaring(Kind{name: "Masks", takes: []*Kind{Fill, Dtype}}, func(p *Program, c *Call, field string) error {
		return p.addMask(maskField{c, engine.MaskAt{Name: field, Several: true}})
	})
)

func checkFormat(k dataset.Kind) error {
	return want(isBoxes(k), "dataset.BoxesXYXY, BoxesXYWH or BoxesCXCYWH, not %v", k)
}

// boxField is a field of boxes.
type boxField struct {
	field  string
	format dataset.Kind // in the dataset
	rows   []string     // fields with a row per box
}

// String prints the option that declares the field.
func (b boxField) String() string { return rowsCall("Boxes", b.field, b.rows, b.format) }

// pointField is a field of keypoints.
type pointField struct {
	field string
	rows  []string // fields with a row per element
}

// String prints the option that declares the field.
func (k pointField) String() string { return rowsCall("KeyPoints", k.field, k.rows) }

// maskField is a field of masks. Its call is the option that declares it.
type maskField struct {
	*Call
	engine.MaskAt
}

// names are the fields that have been declared.
func (a *annotated) names() []string {
	var names []string
	for _, b := range a.boxes {
		names = append(names, b.field)
	}
	for _, m := range a.masks {
		names = append(names, m.Name)
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
func (p *Program) findKinds(spec dataset.Spec) error {
	var errs []error
	owner := func(f dataset.Field) bool { return f.Of == "" || f.Of == p.Field }
	for _, f := range spec {
		if isBoxes(f.Kind) && p.implied(f) && owner(f) {
			errs = append(errs, p.implies(Boxes, f.Name, f.Kind))
		}
	}
	for i := range p.boxes {
		b := &p.boxes[i]
		b.rows = withRows(b.rows, b.field, spec)
		p.format = b.format
	}
	for _, f := range spec {
		byBox := slices.ContainsFunc(p.boxes, func(b boxField) bool { return b.field == f.Of })
		if !p.implied(f) || !owner(f) && !byBox {
			continue
		}
		switch f.Kind {
		case dataset.KeyPoints:
			errs = append(errs, p.implies(KeyPoints, f.Name))
		case dataset.Mask, dataset.Segments:
			errs = append(errs, p.implies(Mask, f.Name))
		case dataset.Masks:
			errs = append(errs, p.implies(Masks, f.Name))
		}
	}
	for i := range p.points {
		k := &p.points[i]
		k.rows = withRows(k.rows, k.field, spec)
	}
	for i := range p.masks {
		m := &p.masks[i]
		if at := spec.Index(m.Name); at >= 0 {
			errs = append(errs, within(m.String(), m.take(spec[at])))
		}
	}
	for _, text := range p.calls() {
		if strings.HasPrefix(text, "Mask") {
			text += ", nearest, only the rows that are kept"
		}
		p.Lines = append(p.Lines, "move      "+text)
	}
	return errors.Join(errs...)
}

// implies makes the option of a field whose kind says what it is.
func (p *Program) implies(k *Kind, field string, more ...any) error {
	c := New(k, nil, append(Texts(field), more...)...)
	return within(c.String(), c.add(p, c))
}

// implied reports whether a field is not the images', and no option declares it.
func (p *Program) implied(f dataset.Field) bool {
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
func (p *Program) annotate(spec, given dataset.Spec, images string) (engine.Layout, dataset.Spec, error) {
	l := engine.Layout{Boxes: -1}
	n := naming{spec: spec, given: given, images: images}
	for _, b := range p.boxes {
		n.findBoxes(b, &l)
	}
	for _, k := range p.points {
		n.findPoints(k, &l, p.removes)
	}
	for _, m := range p.masks {
		n.findMask(m, &l)
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
	l.Boxes, l.Rows, l.Format = f, n.rows(b, b.rows), b.format
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
	f := n.find(m, m.Name)
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

// PassLine is the plan's line of the fields that stay as they are: those that do not belong to the
// image, and that no step of the user's own sees.
func (p *Program) PassLine(spec dataset.Spec) string {
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
	args := append(Texts(field), more...)
	if len(rows) > 0 {
		args = append(args, figures.Call("With", Texts(rows...)...))
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

// isBoxes reports whether a kind of fields is one of boxes.
func isBoxes(k dataset.Kind) bool { return k >= dataset.BoxesXYXY && k <= dataset.BoxesCXCYWH }

// Steps that change boxes and keypoints, and not the image.
var (
	ConvertBoundingBoxFormat = result("ConvertBoundingBoxFormat", func(p *Program, c *Call) error {
		to := c.Args[0].(dataset.Kind)
		if err := checkFormat(to); err != nil {
			return err
		}
		p.format = to
		return p.marksBoxes(c, func(a *engine.Annotations) { a.Convert(to) })
	})
	ClampBoundingBoxes = result("ClampBoundingBoxes", func(p *Program, c *Call) error {
		return p.marksBoxes(c, (*engine.Annotations).ClampBoxes)
	})
	SanitizeBoundingBoxes = &Kind{name: "SanitizeBoundingBoxes", takes: []*Kind{MinSize, MinArea}, add: func(p *Program, c *Call) error {
		size, area := float32(optionOf(c, MinSize, 1.0)), float32(optionOf(c, MinArea, 1.0))
		return p.marksBoxes(c, func(a *engine.Annotations) { a.Sanitize(size, area) })
	}}
	SanitizeKeyPoints = result("SanitizeKeyPoints", func(p *Program, c *Call) error {
		p.removes = true
		return p.marksPoints(c, (*engine.Annotations).RemoveOutside)
	})
	ClampKeyPoints = result("ClampKeyPoints", func(p *Program, c *Call) error { return p.marksPoints(c, (*engine.Annotations).ClampPoints) })
	RandomIoUCrop  = &Kind{name: "RandomIoUCrop", takes: []*Kind{Scale, Ratio, SamplerOptions, Trials}, add: func(p *Program, c *Call) error {
		if err := p.needBoxes(); err != nil {
			return err
		}
		crop := engine.IouCrop{Scale: c.span(Scale, 0.3, 1), Ratio: c.span(Ratio, 0.5, 2), Ious: []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}, Trials: optionOf(c, Trials, 40)}
		if c.has(SamplerOptions) {
			crop.Ious = of[float64](c.option(SamplerOptions))
		}
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

// marksBoxes adds a step that changes boxes.
func (p *Program) marksBoxes(c *Call, mark marking) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	return p.marks("boxes     "+c.String(), mark)
}

// marksPoints adds a step that changes keypoints.
func (p *Program) marksPoints(c *Call, mark marking) error {
	if len(p.points) == 0 {
		return errors.New("want KeyPoints, or a dataset that says which field they are")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	return p.marks("points    "+c.String(), mark)
}

func (p *Program) marks(line string, mark marking) error {
	p.endRun()
	p.Lines = append(p.Lines, line)
	p.Ops = append(p.Ops, mark)
	return nil
}

// addMask adds a mask whose dtype may be left open.
func (p *Program) addMask(m maskField) error {
	m.Ids, m.Dtype = m.has(SegmentIDs), optionOf(m.Call, Dtype, dataset.Dtype(0))
	if fill := of[float64](m.option(Fill)); len(fill) > 0 {
		if m.Outside = uint16(fill[0]); len(fill) > 1 || float64(m.Outside) != fill[0] {
			return errors.New("want a Fill of one whole number from 0 to 65535")
		}
	}
	if m.has(Dtype) {
		if err := m.checkDtype(); err != nil {
			return err
		}
	}
	p.masks = append(p.masks, m)
	return nil
}

// take makes what the option leaves open as the dataset's field has it.
func (m *maskField) take(f dataset.Field) error {
	m.Ids = m.Ids || f.Kind == dataset.Segments && !m.Several
	switch {
	case m.has(Dtype):
	case m.Ids:
		m.Dtype = dataset.Int32
	case f.Ragged:
		m.Dtype = dataset.Uint8
	default:
		m.Dtype = f.Dtype
	}
	return m.checkDtype()
}

// checkDtype is the error of a dtype of the result.
func (m *maskField) checkDtype() error {
	switch {
	case !isNumber(m.Dtype):
		return errors.New("want dataset.Uint8, dataset.Uint16, dataset.Int32 or dataset.Int64")
	case m.Dtype == dataset.Uint8 && m.Outside > 255:
		return fmt.Errorf("want a Fill up to 255 for uint8, not %d", m.Outside)
	case m.Ids && m.Dtype.Size() < 4:
		return errors.New("SegmentIDs want Dtype(dataset.Int32) or Dtype(dataset.Int64)")
	}
	return nil
}

// at checks the field f of the dataset that the option names.
func (m maskField) at(index int, f dataset.Field) (engine.MaskAt, error) {
	at := m.MaskAt
	at.Field, at.Size = index, 1
	file := f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1
	switch {
	case m.Several && !file:
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	case file:
		return at, nil
	case m.Ids:
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	case f.Ragged || len(f.Shape) != 2 || !isNumber(f.Dtype):
		return at, fmt.Errorf("field %v: want ragged uint8, or uint8, uint16, int32 or int64 (h, w)", f)
	}
	at.Size = f.Dtype.Size()
	at.W, at.H = f.Shape[1], f.Shape[0]
	if at.Size > m.Dtype.Size() {
		return at, fmt.Errorf("field %v: want Dtype(dataset.%s), or a larger one", f, goName(f.Dtype))
	}
	return at, nil
}

// isNumber reports whether masks may have numbers of that dtype.
func isNumber(dt dataset.Dtype) bool {
	return dt == dataset.Uint8 || dt == dataset.Uint16 || dt == dataset.Int32 || dt == dataset.Int64
}

// goName is a dtype as programs write it.
func goName(dt dataset.Dtype) string {
	name := dt.String()
	return string(name[0]-'a'+'A') + name[1:]
}
