package transform

import (
	"errors"
	"math/rand/v2"
)

// editDeep makes the image grey with the draw of edit.
func (s grayscale) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	if s.p == -1 {
		return e.deep.toGrey(e, s.channels)
	}
	if r.Float64() >= s.p {
		return nil
	}
	return e.deep.toGrey(e, m.Channels)
}

// toGrey makes the image grey, with 1 or 3 channels.
func (d *deepEngine) toGrey(e *engine, channels int) error {
	m := &d.img
	if m.Channels == 3 {
		grey, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
		for i, v := range grey {
			grey[i] = deepLuma(v, green[i], blue[i])
			if depthOf(d.dtype).whole {
				grey[i] = float32(int32(grey[i]))
			}
		}
	}
	switch grey := m.Plane(0); {
	case channels == 1:
		m.Channels, m.Pix = 1, m.Pix[:len(grey)] // with its capacity
	case m.Channels == 3:
		copy(m.Plane(1), grey)
		copy(m.Plane(2), grey)
	default:
		if err := checkValues(m.Width, m.Height, channels, e.limit); err != nil {
			return err
		}
		d.spare.resize(channels, m.Width, m.Height)
		for c := range channels {
			copy(d.spare.Plane(c), grey)
		}
		d.swap(e)
	}
	d.channels = channels
	return nil
}

// regroups is the error of a change of the number of channels.
func (d *deepPlan) regroups(channels int) error {
	if d != nil && d.channels != channels && len(d.fill) > 1 {
		return errors.New("want a Fill of Depth16 for all channels")
	}
	return nil
}
