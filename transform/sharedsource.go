package transform

import (
	"image"

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

func (s *sharedSource) Begin(e *engine) {
	w, h := e.Size()
	s.Image, s.limit, s.whole, s.window = e.src, e.limit, image.Rect(0, 0, w, h), image.Rectangle{}
	s.known, s.frame, s.channels = false, e.frame, e.frame.Channels()
}

// render begins with the image that e has made.
func (s *sharedSource) render(e *engine) {
	w, h := e.Size()
	s.whole = image.Rect(0, 0, w, h)
	s.window, s.frame = s.whole, e.frame
	e.frame.share(s)
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

// Samples is the result of loadDeep if there is one, otherwise that of the source.
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
