package transform

import (
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// samples is the result of loadDeep if there is one, otherwise that of the source.
func (s *sharedSource) samples() (int, dataset.Dtype, error) {
	if s.known {
		return s.channels, s.dtype, nil
	}
	return s.source.(deepSource).samples()
}

// renderDeep begins with the image that d has made.
func (s *sharedSource) renderDeep(d *deepEngine) {
	s.channels, s.dtype, s.known, s.values = d.Planes.Channels, d.Dtype, true, d.Pix
}

// loadDeep is load for values.
func (s *sharedSource) loadDeep(window image.Rectangle) error {
	var err error
	if s.dtype, err = checkSamples(s.source.(deepSource), s.channels); err != nil {
		return err
	}
	s.known = true
	if err := checkValues(window.Dx(), window.Dy(), s.channels, s.limit); err != nil {
		return err
	}
	s.window = image.Rectangle{}
	s.values = raster.GrowFloats(s.values, s.channels*window.Dx()*window.Dy())
	if err := s.source.(deepSource).decodeDeep(s.values, window); err != nil {
		return err
	}
	s.window = window
	return nil
}

// decodeDeep copies values. If r is not in the window, it decodes the whole image.
func (s *sharedSource) decodeDeep(dst []float32, r image.Rectangle) error {
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
