package engine

import (
	"image"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A sharedSource is an image of which one window is decoded for several engines.
type sharedSource struct {
	source.Image
	frame  frame // of the engine that began with it
	limit  int
	whole  image.Rectangle
	window image.Rectangle // what pix holds
	pix    []byte

	// With Depth16.
	channels int
	dtype    dataset.Dtype
	known    bool // what dtype is
	values   []float32
}

func (s *sharedSource) Begin(e *Engine) {
	w, h := e.Size()
	s.Image, s.limit, s.whole, s.window = e.src, e.limit, image.Rect(0, 0, w, h), image.Rectangle{}
	s.known, s.frame, s.channels = false, e.Frame, e.Frame.Channels()
}

// Render begins with the image that e has made.
func (s *sharedSource) Render(e *Engine) {
	w, h := e.Size()
	s.whole = image.Rect(0, 0, w, h)
	s.window, s.frame = s.whole, e.Frame
	e.Frame.share(s)
}

// load decodes a window, unless it is there.
func (s *sharedSource) load(window image.Rectangle) error {
	if window.In(s.window) {
		return nil
	}
	if err := checkValues(window.Dx(), window.Dy(), s.frame.cost(), s.limit); err != nil {
		return err
	}
	s.window = image.Rectangle{}
	if err := s.frame.load(s, window); err != nil {
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

// Samples is what load has found, otherwise what the source says.
func (s *sharedSource) Samples() (int, dataset.Dtype, error) {
	if s.known {
		return s.channels, s.dtype, nil
	}
	return s.Image.(source.Values).Samples()
}

// DecodeValues copies values. If r is not in the window, it decodes the whole image.
func (s *sharedSource) DecodeValues(dst []float32, r image.Rectangle) error {
	if !r.In(s.window) {
		if err := s.load(s.whole); err != nil {
			return err
		}
	}
	w, h := s.window.Dx(), s.window.Dy()
	at := r.Min.Sub(s.window.Min)
	for c := range s.channels {
		for y := range r.Dy() {
			copy(dst[:r.Dx()], s.values[c*w*h+(at.Y+y)*w+at.X:])
			dst = dst[r.Dx():]
		}
	}
	return nil
}

// A viewer makes the views of one image after the other.
type viewer struct {
	shared  sharedSource
	groups  []viewing
	sources []viewSource
}

// viewing is a group with a lane per view.
type viewing struct {
	*Views
	lanes []*lane
	begun []int     // how many operations of each have run
	crops []*viewer // of FiveCrop or TenCrop among the steps of each; nil without them
	cells []viewCells
	draws []LaneDraws // of crops, which share them
	rands []*rand.Rand
}

func newViewer(p *Plan, spec dataset.Spec) *viewer {
	w := &viewer{}
	for i := range p.Views {
		v := &p.Views[i]
		g := viewing{Views: v, begun: make([]int, v.N)}
		for k := range v.N {
			g.lanes = append(g.lanes, newLane(v.Plan))
			g.lanes[k].Engine.Crop5 = k
			if v.Plan.Crops > 0 {
				g.crops = append(g.crops, newViewer(v.Plan, nil))
			}
		}
		if p.Crops > 0 {
			g.share()
		}
		w.groups = append(w.groups, g)
	}
	if p.Moves {
		w.annotate(spec)
	}
	return w
}

// share lets all views of a group have the same draws.
func (g *viewing) share() {
	shared := new(SharedDraws)
	g.draws = make([]LaneDraws, g.N)
	for k := range g.draws {
		g.draws[k].SharedDraws = shared
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

// Begin draws the crops of all views of the image that l has begun with, and decodes the
// window in which they are. If l has steps, they come first.
func (w *viewer) Begin(l *lane, dst dataset.Slot, r *rand.Rand) error {
	if len(l.Ops) == 0 {
		w.shared.Begin(&l.Engine)
		return w.lead(l, dst, r)
	}
	return w.beginFrom(l, 0, dst, r)
}

// beginFrom is Begin where the first n steps of l have run. It makes the whole image.
func (w *viewer) beginFrom(l *lane, n int, dst dataset.Slot, r *rand.Rand) error {
	e := &l.Engine
	if err := DoAll(l.Ops[n:], e, r); err != nil {
		return err
	}
	if err := e.Render(); err != nil {
		return err
	}
	w.shared.Render(e)
	return w.lead(l, dst, r)
}

// lead draws the crops of the image of l, and decodes the window in which they are.
func (w *viewer) lead(l *lane, dst dataset.Slot, r *rand.Rand) error {
	width, height := l.Engine.Size()
	var window image.Rectangle
	for _, g := range w.groups {
		for k := range g.draws {
			g.draws[k].From, g.draws[k].taken, g.draws[k].begun = r, false, false
		}
		for k, l := range g.lanes {
			l.Engine.Begin(&w.shared, width, height, dst)
			if err := w.beginParts(&g, k, dst); err != nil {
				return err
			}
			var err error
			if g.begun[k], err = l.lead(g.rand(k, r)); err != nil {
				return err
			}
			if !l.Engine.inside {
				window = window.Union(l.Engine.needs())
			}
		}
	}
	return w.shared.load(window)
}

// Place stores the views in the sample.
func (w *viewer) Place(dst dataset.Slot) error {
	for k := range w.groups {
		g := &w.groups[k]
		if err := g.Store(dst.Cell(g.At).Bytes(), dst, dst.Rand()); err != nil {
			return err
		}
		g.placeParts(dst)
	}
	return nil
}

// Store stores the images of a group in out.
func (g *viewing) Store(out []byte, dst dataset.Slot, r *rand.Rand) error {
	size := len(out) / len(g.lanes)
	for k, l := range g.lanes {
		r := g.rand(k, r)
		if g.crops != nil {
			w := g.crops[k]
			if err := w.beginFrom(l, g.begun[k], dst, r); err != nil {
				return err
			}
			if err := w.groups[0].Store(out[k*size:(k+1)*size], dst, r); err != nil {
				return err
			}
			continue
		}
		if err := l.runFrom(g.begun[k], r); err != nil {
			return err
		}
		dst.Stage(dataset.StageStore)
		if err := l.Store(out[k*size:(k+1)*size], r); err != nil {
			return err
		}
		if err := l.Engine.Annotations.Store(); err != nil {
			return err
		}
	}
	return nil
}

// SharedDraws are random numbers that are the same for several lanes. They come from the
// sample's random numbers when the first lane draws.
type SharedDraws struct {
	From  *rand.Rand
	taken bool
	seeds [2]uint64
}

// LaneDraws are those of one lane.
type LaneDraws struct {
	*SharedDraws
	pcg   rand.PCG
	begun bool
}

// Uint64 implements rand.Source.
func (d *LaneDraws) Uint64() uint64 {
	if !d.taken {
		d.taken, d.seeds = true, [2]uint64{d.From.Uint64(), d.From.Uint64()}
	}
	if !d.begun {
		d.begun = true
		d.pcg.Seed(d.seeds[0], d.seeds[1])
	}
	return d.pcg.Uint64()
}

// Views are the results of a Views, or of FiveCrop and TenCrop.
type Views struct {
	N    int
	At   int          // of the field in the results
	Made dataset.Spec // what each view makes of the dataset's fields
	Layout
	Parts []ViewPart
	Plan  *Plan
}

// A ViewPart is a field of annotations in the results of a group of views.
type ViewPart struct {
	From, To int // fields of the dataset and of the results
	Row      int // bytes of a row
	Counts   int // the field with the number of rows of every view; -1: none of its own
}

// A viewSource is what the dataset places for all views.
type viewSource struct {
	field int
	cell  dataset.Cell
}

// viewCells are the cells of one view. Those of annotations are its own, all others those
// of the sample.
type viewCells struct {
	cells []dataset.Cell
	own   []dataset.Cell // one per ViewPart
}

// annotate gives every view annotations of its own. Spec is that of the dataset.
func (w *viewer) annotate(spec dataset.Spec) {
	var first *Annotations
	for i := range w.groups {
		g := &w.groups[i]
		for _, l := range g.lanes {
			l.Engine.Annotations = newAnnotations(g.Layout, g.Plan, spec, first)
			if first == nil {
				first = l.Engine.Annotations
			}
			var c viewCells
			for _, part := range g.Parts {
				c.own = append(c.own, dataset.NewCell(g.Made[part.From]))
			}
			g.cells = append(g.cells, c)
		}
	}
	for _, part := range w.groups[0].Parts {
		s := viewSource{part.From, dataset.NewCell(spec[part.From])}
		for k, m := range first.Layout.Masks {
			if m.Field == part.From {
				s.cell = first.masks[k].cell
			}
		}
		w.sources = append(w.sources, s)
	}
}

// inputs lets the dataset place annotations in memory of this reader.
func (w *viewer) inputs(cells []dataset.Cell) {
	if w == nil {
		return
	}
	for _, s := range w.sources {
		cells[s.field] = s.cell
	}
}

// beginParts gives view k of a group the annotations of the sample.
func (w *viewer) beginParts(g *viewing, k int, dst dataset.Slot) error {
	l := g.lanes[k]
	a := l.Engine.Annotations
	if a == nil {
		return nil
	}
	c := &g.cells[k]
	c.cells = c.cells[:0]
	for f := range dst.Len() {
		c.cells = append(c.cells, dst.Cell(f))
	}
	for i, part := range g.Parts {
		c.cells[part.From] = c.own[i]
		if a.Layout.isMask(part.From) {
			continue // masks are read where they are
		}
		given := w.sources[i].cell.Bytes()
		if c.own[i].Ragged() {
			c.own[i].Grow(len(given))
		}
		copy(c.own[i].Bytes(), given)
	}
	l.Engine.Slot = dst.With(c.cells)
	return a.Begin(l, l.Engine.Slot)
}

func (l *Layout) isMask(field int) bool {
	return slices.ContainsFunc(l.Masks, func(m MaskAt) bool { return m.Field == field })
}

// placeParts puts the annotations of all views into the sample.
func (g *viewing) placeParts(dst dataset.Slot) {
	for i, part := range g.Parts {
		cell := dst.Cell(part.To)
		if cell.Ragged() {
			n := 0
			for _, c := range g.cells {
				n += len(c.own[i].Bytes())
			}
			cell.Grow(n)
		}
		at := 0
		for k, c := range g.cells {
			own := c.own[i].Bytes()
			at += copy(cell.Bytes()[at:], own)
			if part.Counts >= 0 {
				dataset.Row[int64](dst, part.Counts)[k] = int64(len(own) / part.Row)
			}
		}
	}
}
