package transform

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
)

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
	begun []int     // how many operations of each have run
	crops []*viewer // of FiveCrop or TenCrop among the steps of each; nil without them
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
			if v.program.crops.n > 0 {
				g.crops = append(g.crops, newViewer(v.program, nil))
			}
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

// Begin draws the crops of all views of the image that l has begun with, and decodes the
// window in which they are. If l has steps, they come first.
func (w *viewer) Begin(l *lane, dst dataset.Slot, r *rand.Rand) error {
	if len(l.ops) == 0 {
		w.shared.Begin(&l.engine)
		return w.lead(l, dst, r)
	}
	return w.beginFrom(l, 0, dst, r)
}

// beginFrom is begin where the first n steps of l have run. It makes the whole image.
func (w *viewer) beginFrom(l *lane, n int, dst dataset.Slot, r *rand.Rand) error {
	e := &l.engine
	if err := doAll(l.ops[n:], e, r); err != nil {
		return err
	}
	if err := e.render(); err != nil {
		return err
	}
	w.shared.render(e)
	return w.lead(l, dst, r)
}

// lead draws the crops of the image of l, and decodes the window in which they are.
func (w *viewer) lead(l *lane, dst dataset.Slot, r *rand.Rand) error {
	width, height := l.engine.Size()
	var window image.Rectangle
	for _, g := range w.groups {
		for k := range g.draws {
			g.draws[k].from, g.draws[k].taken, g.draws[k].begun = r, false, false
		}
		for k, l := range g.lanes {
			l.engine.Begin(&w.shared, width, height, dst)
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
		if g.crops != nil {
			w := g.crops[k]
			if err := w.beginFrom(l, g.begun[k], dst, r); err != nil {
				return err
			}
			if err := w.groups[0].store(out[k*size:(k+1)*size], dst, r); err != nil {
				return err
			}
			continue
		}
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
