package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
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
			errs = append(errs, fmt.Errorf("transform: %v: %s: want settings outside, and no Ragged, Sizes, Boxes, Mask, Masks, KeyPoints, FiveCrop, TenCrop and Views in it", v.ViewGroup, steps.Join(p.outside(v))))
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
		inner.ragged || inner.sizes != "" || inner.hands > 0 || len(inner.names()) > len(p.names()) || len(inner.views) > 0 ||
		inner.crops.n > 0 || len(inner.formats) > 0 || inner.deep != nil && p.deep == nil
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
		f, err := v.program.fieldOf(w, h)
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

// A viewer makes the views of one image after the other.
type viewer struct {
	shared  sharedSource
	groups  []viewing
	sources []viewSource
}

// viewing is a group with a lane per view.
type viewing struct {
	*views
	lanes []*lane
	begun []int // how many operations of each have run
	cells []viewCells
	draws []laneDraws // of crops, which share them
	rands []*rand.Rand
}

func newViewer(p *program, spec dataset.Spec) *viewer {
	w := &viewer{}
	for i := range p.views {
		v := &p.views[i]
		g := viewing{views: v, begun: make([]int, v.n)}
		for k := range v.n {
			g.lanes = append(g.lanes, newLane(v.program))
			g.lanes[k].engine.crop5 = k
		}
		if p.crops.n > 0 {
			g.share()
		}
		w.groups = append(w.groups, g)
	}
	if p.annotated.any() {
		w.annotate(spec)
	}
	return w
}

// share lets all views of a group have the same draws.
func (g *viewing) share() {
	shared := new(sharedDraws)
	g.draws = make([]laneDraws, g.n)
	for k := range g.draws {
		g.draws[k].sharedDraws = shared
		g.rands = append(g.rands, rand.New(&g.draws[k]))
	}
}

// rand is the random numbers of view k, if r is those of the sample.
func (g *viewing) rand(k int, r *rand.Rand) *rand.Rand {
	if g.draws == nil {
		return r
	}
	return g.rands[k]
}

// begin draws the crops of all views of the image that l has begun with, and decodes the
// window in which they are. If l has steps, they come first.
func (w *viewer) begin(l *lane, dst dataset.Slot, r *rand.Rand) error {
	e := &l.engine
	if len(l.ops) > 0 {
		if err := doAll(l.ops, e, r); err != nil {
			return err
		}
		if err := e.render(); err != nil {
			return err
		}
		w.shared.render(e)
	} else {
		w.shared.begin(e)
	}
	width, height := e.size()
	var window image.Rectangle
	for _, g := range w.groups {
		for k := range g.draws {
			g.draws[k].from, g.draws[k].taken, g.draws[k].begun = r, false, false
		}
		for k, l := range g.lanes {
			l.engine.begin(&w.shared, width, height, dst)
			if err := w.beginParts(&g, k, dst); err != nil {
				return err
			}
			var err error
			if g.begun[k], err = l.lead(g.rand(k, r)); err != nil {
				return err
			}
			if !l.engine.inside {
				window = window.Union(l.engine.needs())
			}
		}
	}
	return w.shared.load(window)
}

// place stores the views in the sample.
func (w *viewer) place(dst dataset.Slot) error {
	for k := range w.groups {
		g := &w.groups[k]
		if err := g.store(dst.Cell(g.at).Bytes(), dst, dst.Rand()); err != nil {
			return err
		}
		g.placeParts(dst)
	}
	return nil
}

// store stores the images of a group in out.
func (g *viewing) store(out []byte, dst dataset.Slot, r *rand.Rand) error {
	size := len(out) / len(g.lanes)
	for k, l := range g.lanes {
		r := g.rand(k, r)
		if err := l.runFrom(g.begun[k], r); err != nil {
			return err
		}
		dst.Stage(dataset.StageStore)
		if err := l.store(out[k*size:(k+1)*size], r); err != nil {
			return err
		}
		if err := l.engine.annotations.store(); err != nil {
			return err
		}
	}
	return nil
}

// A sharedSource is an image of which one window is decoded for several engines.
type sharedSource struct {
	source
	limit  int
	whole  image.Rectangle
	window image.Rectangle // what pix holds
	pix    []byte

	// With Depth16, otherwise channels is 0.
	channels int
	dtype    tensor.Dtype
	known    bool // what dtype is
	values   []float32
}

func (s *sharedSource) begin(e *engine) {
	w, h := e.size()
	s.source, s.limit, s.whole, s.window = e.src, e.limit, image.Rect(0, 0, w, h), image.Rectangle{}
	s.known = false
	if e.deep != nil {
		s.channels = e.deep.channels
	}
}

// render begins with the image that e has made.
func (s *sharedSource) render(e *engine) {
	w, h := e.size()
	s.whole = image.Rect(0, 0, w, h)
	s.window, s.pix = s.whole, e.img.Pix
	if e.deep != nil {
		s.renderDeep(e.deep)
	}
}

// load decodes a window, unless it is there.
func (s *sharedSource) load(window image.Rectangle) error {
	if window.In(s.window) {
		return nil
	}
	if s.channels > 0 {
		return s.loadDeep(window)
	}
	if err := checkSize(window.Dx(), window.Dy(), s.limit); err != nil {
		return err
	}
	s.window = image.Rectangle{}
	s.pix = grow(s.pix, 4*window.Dx()*window.Dy())
	if err := s.decode(s.pix, 4*window.Dx(), window); err != nil {
		return err
	}
	s.window = window
	return nil
}

// pixels are those of r, and the bytes from one row to the next. If r is not in the window,
// it decodes the whole image.
func (s *sharedSource) pixels(r image.Rectangle) (pix []byte, pitch int, err error) {
	if !r.In(s.window) {
		if err := s.load(s.whole); err != nil {
			return nil, 0, err
		}
	}
	pitch = 4 * s.window.Dx()
	at := r.Min.Sub(s.window.Min)
	return s.pix[at.Y*pitch+4*at.X:], pitch, nil
}
