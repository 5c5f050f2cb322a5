package engine

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A sharedSource is an image of which one window is decoded for several engines.
type sharedSource struct {
	source.Image
	frame  frame // of the engine that began with it
	limit  int
	whole  image.Rectangle
	window image.Rectangle // what pix or values hold
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

// Views are the results of a Views.
type Views struct {
	N    int
	At   int // of the field in the results
	Plan *Plan
}

// A viewer makes the views of one image after the other.
type viewer struct {
	shared sharedSource
	groups []viewing
}

// viewing is a group with a lane per view.
type viewing struct {
	*Views
	lanes []*lane
	begun []int // how many operations of each have run
}

func newViewer(p *Plan) *viewer {
	w := &viewer{}
	for i := range p.Views {
		v := &p.Views[i]
		g := viewing{Views: v, begun: make([]int, v.N)}
		for range v.N {
			g.lanes = append(g.lanes, newLane(v.Plan))
		}
		w.groups = append(w.groups, g)
	}
	return w
}

// Begin draws the crops of all views of the image that l has begun with, and decodes the window in which they are.
func (w *viewer) Begin(l *lane, dst dataset.Slot, r *rand.Rand) error {
	w.shared.Begin(&l.Engine)
	width, height := l.Engine.Size()
	var window image.Rectangle
	for _, g := range w.groups {
		for k, l := range g.lanes {
			l.Engine.Begin(&w.shared, width, height, dst)
			var err error
			if g.begun[k], err = l.lead(r); err != nil {
				return err
			}
			if !l.Engine.inside {
				part, err := l.Engine.needs()
				if err != nil {
					return err
				}
				window = window.Union(part)
			}
		}
	}
	return w.shared.load(window)
}

// Place stores the views in the sample.
func (w *viewer) Place(dst dataset.Slot, r *rand.Rand) error {
	for _, g := range w.groups {
		out := dst.Cell(g.At).Bytes()
		size := len(out) / len(g.lanes)
		for k, l := range g.lanes {
			if err := l.runFrom(g.begun[k], r); err != nil {
				return err
			}
			dst.Stage(dataset.StageStore)
			if err := l.Store(out[k*size:(k+1)*size], r); err != nil {
				return err
			}
		}
	}
	return nil
}
