package transform

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// NewPlanes is New for images of [Depth16]: planes of w×h pixels, with the channels and the dtype of
// the sample's Planes. It panics without Depth16.
func (s *Sample) NewPlanes(w, h int) *Planes {
	d := s.engine.deep
	if d == nil {
		panic("transform: NewPlanes: only with Depth16: without it the image is Sample.Image, and Sample.New makes another")
	}
	s.mustHold("NewPlanes", w, h)
	m := (*Planes)(&d.Spare)
	m.Pix = forSpare(&s.values, d.Pix)
	d.Spare.Resize(d.Planes.Channels, w, h)
	m.Dtype = d.Dtype
	s.values[1] = m.Pix
	return m
}

// finishDeep makes the sample's Planes the current image. Want is its size, or (0, 0) if that
// varies.
func (s *sampling) finishDeep(e *engine, want image.Point, varies bool) error {
	d, m := e.deep, e.sample.Planes
	if m != (*Planes)(&d.Planes) && m != (*Planes)(&d.Spare) {
		return errors.New("set Sample.Planes to planes of its own: want the Planes that were there, or those that Sample.NewPlanes has made")
	}
	if err := m.check(); err != nil {
		return err
	}
	if !varies && (m.Width != want.X || m.Height != want.Y) || m.Channels != d.Planes.Channels || m.Dtype != d.Dtype {
		return fmt.Errorf("made %s, want %s of %s of %s: a step that changes the size has a method Size",
			m.describe(), figures.Count(d.Planes.Channels, "channel", "channels"), pixelsOf(want.X, want.Y), d.Dtype.String())
	}
	raster.DepthOf(d.Dtype).Settle(m.Pix)
	if m == (*Planes)(&d.Spare) {
		d.Swap()
	}
	e.moved()
	return nil
}
