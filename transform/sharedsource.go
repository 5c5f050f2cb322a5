package transform

import (
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A sharedSource is an image of which one window is decoded for several engines.
type sharedSource struct {
	source
	limit  int
	whole  image.Rectangle
	window image.Rectangle // what pix holds
	pix    []byte

	// With Depth16, otherwise channels is 0.
	channels int
	dtype    dataset.Dtype
	known    bool // what dtype is
	values   []float32
}

func (s *sharedSource) begin(e *engine) {
	w, h := e.size()
	s.source, s.limit, s.whole, s.window = e.src, e.limit, image.Rect(0, 0, w, h), image.Rectangle{}
	s.known = false
	if e.deep != nil {
		s.channels = e.deep.Planes.Channels
	}
}

// render begins with the image that e has made.
func (s *sharedSource) render(e *engine) {
	w, h := e.size()
	s.whole = image.Rect(0, 0, w, h)
	s.window, s.pix = s.whole, e.bytes.Pix
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
	s.pix = raster.Grow(s.pix, 4*window.Dx()*window.Dy())
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
