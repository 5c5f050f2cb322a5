package transform

import (
	"errors"
	"math"
)

// painted are steps that say how a warp fills its result.
type painted interface{ paints() painter }

func (s Rotation) paints() painter    { return s.painter }
func (s Affinity) paints() painter    { return s.painter }
func (s Perspective) paints() painter { return s.painter }
func (s Elastic) paints() painter     { return s.painter }

func (s RandAugmenting) paints() painter    { return s.painter }
func (s TrivialAugmenting) paints() painter { return s.painter }
func (s AutoAugmenting) paints() painter    { return s.painter }
func (s AugMixing) paints() painter         { return s.painter }

// warps is the error of a warp that does not work with Depth16.
func (d *deepPlan) warps(s any) error {
	p, ok := s.(painted)
	_, elastic := s.(Elastic)
	switch {
	case d == nil:
	case !ok:
		return errColours
	case p.paints().fill != [3]uint8{}:
		return errFill
	case p.paints().filter == Bicubic && !elastic:
		return errors.New("want the filter Nearest or Bilinear with Depth16, as torchvision's tensors have")
	}
	return nil
}

// warp replaces the image, which render has made, by what m shows of it, in w×h pixels. The
// results are those of torchvision's tensors.
func (d *deepEngine) warp(e *engine, m *mapping, w, h int, f Filter) error {
	if err := d.check(w, h, e.limit); err != nil {
		return err
	}
	d.spare.resize(d.channels, w, h)
	for y := range h {
		for x := range w {
			u, v := m.of(float64(x)+0.5, float64(y)+0.5)
			d.paint(w*y+x, u-0.5, v-0.5, f)
		}
	}
	d.settleSpare(f)
	d.swap(e)
	return nil
}

// displace moves every pixel by a vector.
func (d *deepEngine) displace(e *engine, vectors *field, f Filter) {
	w, h := d.img.Width, d.img.Height
	d.spare.resize(d.channels, w, h)
	for y := range h {
		for x := range w {
			i := w*y + x
			d.paint(i, float64(x)+float64(vectors.x[i]), float64(y)+float64(vectors.y[i]), f)
		}
	}
	d.settleSpare(f)
	d.swap(e)
}

// settleSpare rounds the result of an interpolation, but not the fill.
func (d *deepEngine) settleSpare(f Filter) {
	if f != Nearest {
		depthOf(d.dtype).settle(d.spare.Pix)
	}
}

// paint writes pixel i of the spare image: that at (u, v), where whole numbers are the centres of
// pixels. As in torchvision, pixels outside the image are 0, and then the fill is blended in by
// how much of them there is.
func (d *deepEngine) paint(i int, u, v float64, f Filter) {
	src, out := &d.img, &d.spare
	area, n := out.Width*out.Height, src.Width*src.Height
	if !near(u, src.Width, f) || !near(v, src.Height, f) {
		for c := range d.channels {
			out.Pix[c*area+i] = d.filling(c)
		}
		return
	}
	if f == Nearest {
		x, y := int(math.RoundToEven(u)), int(math.RoundToEven(v))
		inside := x >= 0 && x < src.Width && y >= 0 && y < src.Height
		for c := range d.channels {
			if inside {
				out.Pix[c*area+i] = src.Pix[c*n+y*src.Width+x]
			} else {
				out.Pix[c*area+i] = d.filling(c)
			}
		}
		return
	}
	if f == Bicubic {
		d.paintCubic(i, u, v)
		return
	}
	x, y := int(math.Floor(u)), int(math.Floor(v))
	dx, dy := float32(u-float64(x)), float32(v-float64(y))
	var at [4]int
	var weights [4]float32
	used, inside, all := 0, float32(0), true
	for k, weight := range [4]float32{(1 - dx) * (1 - dy), dx * (1 - dy), (1 - dx) * dy, dx * dy} {
		px, py := x+k&1, y+k>>1
		if weight == 0 {
			continue
		}
		if px < 0 || px >= src.Width || py < 0 || py >= src.Height {
			all = false
			continue
		}
		at[used], weights[used] = py*src.Width+px, weight
		inside += weight
		used++
	}
	d.mix(i, at[:used], weights[:used], inside, all)
}

// paintCubic is paint with the 16 nearest pixels.
func (d *deepEngine) paintCubic(i int, u, v float64) {
	src := &d.img
	x, y := int(math.Floor(u)), int(math.Floor(v))
	across, down := cubicWeights(u-float64(x)), cubicWeights(v-float64(y))
	var at [16]int
	var weights [16]float32
	used, inside, all := 0, float32(0), true
	for j, ky := range down {
		for k, kx := range across {
			px, py, weight := x-1+k, y-1+j, float32(kx*ky)
			if weight == 0 {
				continue
			}
			if px < 0 || px >= src.Width || py < 0 || py >= src.Height {
				all = false
				continue
			}
			at[used], weights[used] = py*src.Width+px, weight
			inside += weight
			used++
		}
	}
	d.mix(i, at[:used], weights[:used], inside, all)
}

// mix writes pixel i of the spare image: the sum of pixels with their weights. Inside is the
// sum of the weights, which is 1 if all pixels that the filter reads are in the image.
func (d *deepEngine) mix(i int, at []int, weights []float32, inside float32, all bool) {
	src, out := &d.img, &d.spare
	area, n := out.Width*out.Height, src.Width*src.Height
	for c := range d.channels {
		var sum float32
		plane := src.Pix[c*n:][:n]
		for k, weight := range weights {
			sum += float32(plane[at[k]] * weight)
		}
		if !all {
			back := d.filling(c)
			sum = float32((sum-back)*inside) + back
		}
		out.Pix[c*area+i] = sum
	}
}
