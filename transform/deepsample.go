package transform

import (
	"errors"
	"fmt"
	"image"
)

// NewPlanes is New for images of [Depth16]: planes of w×h pixels, with the channels and the dtype of
// the sample's Planes.
func (s *Sample) NewPlanes(w, h int) *Planes {
	if w < 1 || h < 1 {
		panic(fmt.Sprintf("transform: NewPlanes(%d, %d): want 1 or more", w, h))
	}
	d := s.engine.deep
	if d == nil {
		panic("transform: NewPlanes: want Depth16")
	}
	d.spare.resize(d.channels, w, h)
	d.spare.Dtype = d.dtype
	return &d.spare
}

// finishDeep makes the sample's Planes the current image. Want is its size, or (0, 0) if that
// varies.
func (s *sampling) finishDeep(e *engine, want image.Point, varies bool) error {
	d, m := e.deep, e.sample.Planes
	if m != &d.img && m != &d.spare {
		return errors.New("want the sample's Planes, or those that NewPlanes has made")
	}
	if err := m.check(); err != nil {
		return err
	}
	if !varies && (m.Width != want.X || m.Height != want.Y) || m.Channels != d.channels || m.Dtype != d.dtype {
		return fmt.Errorf("made %d channels of %d×%d pixels, want %d of %d×%d, and the same dtype", m.Channels, m.Width, m.Height, d.channels, want.X, want.Y)
	}
	depthOf(d.dtype).settle(m.Pix)
	if m == &d.spare {
		d.swap(e)
	} else {
		e.view = whole(m.Width, m.Height)
	}
	return nil
}
