package transform

import (
	"math"
	"math/rand/v2"
)

// posterizeDeep keeps the highest bits of integers, without the sign. Floats are rounded down to
// one of 2^n levels.
func posterizeDeep(m *Planes, d depth, n int) {
	if !d.whole {
		levels := float32(int(1) << n)
		for i, v := range m.Pix {
			m.Pix[i] = min(max(float32(math.Floor(float64(v*levels))), 0), levels-1) * (1 / levels)
		}
		return
	}
	if n >= d.bits() {
		return
	}
	mask := int32(1<<n-1) << (d.bits() - n)
	for i, v := range m.Pix {
		m.Pix[i] = float32(int32(v) & mask)
	}
}

// equalizeDeep equalises the highest 8 bits of each channel, and sets the others to 0.
func equalizeDeep(m *Planes, d depth) {
	in, out := float32(255.999), float32(1.0/255)
	if d.whole {
		out = float32(int(1) << (d.bits() - 8))
		in = 1 / out
	}
	for c := range m.Channels {
		plane := m.Plane(c)
		var counts [256]int32
		for i, v := range plane {
			level := uint8(0)
			if v > 0 { // not NaN
				level = uint8(min(v*in, 255))
			}
			plane[i] = float32(level)
			counts[level]++
		}
		var table [256]uint8
		equalizing(&table, &counts)
		for i, v := range plane {
			plane[i] = float32(table[uint8(v)]) * out
		}
	}
}

func (s sharpening) editDeep(e *engine, _ *Planes, _ *rand.Rand) error {
	e.deep.sharpen(e, s.factor)
	return nil
}

// sharpen blends the image with a smoothed one, whose values at the edge are those of the
// image. All are clamped.
func (d *deepEngine) sharpen(e *engine, factor float64) {
	m, kind := &d.img, depthOf(d.dtype)
	w, h := m.Width, m.Height
	if w < 3 || h < 3 {
		return
	}
	d.spare.resize(d.channels, w, h)
	for c := range d.channels {
		src, dst := m.Plane(c), d.spare.Plane(c)
		for y := range h {
			row, out := src[w*y:][:w], dst[w*y:][:w]
			if y == 0 || y == h-1 {
				for x, v := range row {
					out[x] = kind.cut(v)
				}
				continue
			}
			kind.sharpenRow(out, src[w*(y-1):][:w], row, src[w*(y+1):][:w], float32(1-factor))
		}
	}
	d.swap(e)
}

// sharpenRow computes a row from three. Rest is the part of the smoothed image.
func (d depth) sharpenRow(out, above, row, below []float32, rest float32) {
	const side, middle = float32(1.0 / 13), float32(5.0 / 13)
	last := len(row) - 1
	out[0], out[last] = d.cut(row[0]), d.cut(row[last])
	column := func(x int) float64 { return float64(above[x]) + float64(row[x]) + float64(below[x]) }
	left, here := column(0), column(1)
	for x := 1; x < last; x++ {
		right, v := column(x+1), row[x]
		sum := left + (here - float64(v)) + right
		smooth := float32(float64(sum*float64(side)) + float64(float64(v)*float64(middle)))
		if d.whole {
			smooth = roundEven(smooth)
		}
		out[x] = d.cut(plusTimes(v, smooth-v, rest))
		left, here = here, right
	}
}

// editDeep adds random numbers in the order of edit: pixel by pixel.
func (s noise) editDeep(_ *engine, m *Planes, r *rand.Rand) error {
	d := depthOf(m.Dtype)
	most, n := float64(d.most), m.Width*m.Height
	for i := range n {
		for k := i; k < len(m.Pix); k += n {
			normal := r.NormFloat64()
			v := float32(s.mean) + float32(float32(normal)*float32(s.sigma))
			if d.whole {
				v = float32(math.Trunc(float64(s.mean*most) + float64(s.sigma*most*normal)))
			}
			m.Pix[k] = min(max(m.Pix[k]+v, d.least), d.most)
		}
	}
	return nil
}

func (permutation) editDeep(e *engine, _ *Planes, r *rand.Rand) error {
	e.deep.permute(e, r)
	return nil
}

// permute exchanges the channels with the draws of the function permute.
func (d *deepEngine) permute(e *engine, r *rand.Rand) {
	d.order = d.order[:0]
	for c := range d.channels {
		d.order = append(d.order, c)
	}
	for i := d.channels - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		d.order[i], d.order[j] = d.order[j], d.order[i]
	}
	d.spare.resize(d.channels, d.img.Width, d.img.Height)
	for c, from := range d.order {
		copy(d.spare.Plane(c), d.img.Plane(from))
	}
	d.swap(e)
}
