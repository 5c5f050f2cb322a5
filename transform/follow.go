package transform

import "fmt"

// follow moves the annotations as a warp moved the image: m says which point of it every
// point of the result shows, which has w×h pixels. The box of a warped box is that around
// its corners. Masks take the pixels that the filter [Nearest] takes.
func (a *annotations) follow(m *mapping, w, h int) error {
	if a == nil {
		return nil
	}
	forward := m.inverted()
	for b := a.box; len(b) >= 4; b = b[4:] {
		v := toXYXY([4]float32(b), a.format)
		x, y := forward.ofPoint(v[0], v[1])
		around := [4]float32{x, y, x, y}
		for _, c := range [3][2]float32{{v[2], v[1]}, {v[2], v[3]}, {v[0], v[3]}} {
			x, y := forward.ofPoint(c[0], c[1])
			around = [4]float32{min(around[0], x), min(around[1], y), max(around[2], x), max(around[3], y)}
		}
		clampBox(&around, w, h)
		v = fromXYXY(around, a.format)
		copy(b, v[:])
	}
	for _, p := range a.points {
		for k := 0; k+p.step <= len(p.xy); k += p.step {
			p.xy[k], p.xy[k+1] = forward.ofPoint(p.xy[k], p.xy[k+1])
		}
	}
	err := a.warpMasks(m, w, h)
	a.w, a.h = w, h
	a.moved.begin()
	return err
}

// inverted is the mapping from the input to the output. Its numbers are not finite if there
// is none.
func (m *mapping) inverted() mapping {
	// Without the conversions some machines would not round the products.
	minus := func(a, b, c, d float64) float64 { return float64(a*b) - float64(c*d) }
	d := minus(m[0], m[4], m[1], m[3])
	return mapping{
		minus(m[4], 1, m[5], m[7]) / d, minus(m[2], m[7], m[1], 1) / d, minus(m[1], m[5], m[2], m[4]) / d,
		minus(m[5], m[6], m[3], 1) / d, minus(m[0], 1, m[2], m[6]) / d, minus(m[2], m[3], m[0], m[5]) / d,
		minus(m[3], m[7], m[4], m[6]) / d, minus(m[1], m[6], m[0], m[7]) / d,
	}
}

func (m *mapping) ofPoint(x, y float32) (float32, float32) {
	u, v := m.of(float64(x), float64(y))
	return float32(u), float32(v)
}

// warpMasks makes the masks as they are now, and warps them.
func (a *annotations) warpMasks(m *mapping, w, h int) error {
	if len(a.masks) == 0 {
		return nil
	}
	a.moved.indices(a.w, a.h)
	before, after := a.w*a.h, w*h
	for k := range a.masks {
		s, fill := &a.masks[k], a.layout.masks[k].fill
		if err := a.checkPlanes(s.n, max(before, after)); err != nil {
			return err
		}
		if err := s.decode(a.moved.lastRow() + 1); err != nil {
			return err
		}
		a.plane = grow(a.plane, before)
		a.from.resize(a.w, a.h)
		a.to.resize(w, h)
		s.spare = grow(s.spare, s.n*after)
		for p := range s.n {
			gather(a.plane, s.plane(p), s.w, &a.moved, fill)
			for i, v := range a.plane {
				a.from.Pix[4*i] = v
			}
			warp(&a.to, &a.from, m, painter{filter: Nearest, fill: [3]uint8{fill}})
			out := s.spare[p*after:][:after]
			for i := range out {
				out[i] = a.to.Pix[4*i]
			}
		}
		s.whole, s.spare = s.spare, s.whole
		s.pix, s.w, s.h, s.coded = s.whole, w, h, false
	}
	return nil
}

// checkPlanes is the error of n masks that have more pixels than an image may have.
func (a *annotations) checkPlanes(n, area int) error {
	if n > 1 && n > a.program.limit/area {
		return fmt.Errorf("transform: %d masks of %d pixels have more than the limit of %d pixels (see MaxPixels)", n, area, a.program.limit)
	}
	return nil
}
