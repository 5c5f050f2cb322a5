package transform

import (
	"math"
	"math/rand/v2"
)

// editDeep blurs every channel, with the draw of edit.
func (s Blurring) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	kh, kw, err := extent(s.size)
	if err != nil {
		return err
	}
	sigma := s.sigma.draw(r)
	d := e.deep
	d.kernels[0], d.kernels[1] = gaussian(d.kernels[0], kw, sigma), gaussian(d.kernels[1], kh, sigma)
	w, h := m.Width, m.Height
	d.wide, d.row = growFloats(d.wide, w*h), growFloats(d.row, w+kw-1)
	for c := range m.Channels {
		plane := m.Plane(c)
		for y := range h {
			for x := range d.row {
				d.row[x] = plane[w*y+Reflect.index(x-kw/2, w)]
			}
			out := d.wide[w*y:][:w]
			clear(out)
			for i, k := range d.kernels[0] {
				addTimes(out, d.row[i:], k)
			}
		}
		for y := range h {
			out := plane[w*y:][:w]
			clear(out)
			for i, k := range d.kernels[1] {
				addTimes(out, d.wide[w*Reflect.index(y+i-kh/2, h):], k)
			}
		}
	}
	depthOf(m.Dtype).settle(m.Pix)
	return nil
}

// gaussian makes a kernel of n pixels, the sum of which is 1.
func gaussian(k []float32, n int, sigma float64) []float32 {
	k = k[:0]
	sum := 0.0
	for i := range n {
		x := float64(i-n/2) / sigma
		v := math.Exp(-x * x / 2)
		k = append(k, float32(v))
		sum += v
	}
	for i := range k {
		k[i] /= float32(sum)
	}
	return k
}

// addTimes adds k times src.
func addTimes(dst, src []float32, k float32) {
	src = src[:len(dst)]
	for x, v := range src {
		dst[x] += float32(v * k)
	}
}
