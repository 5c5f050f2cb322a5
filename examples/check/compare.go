package main

import (
	"crypto/sha256"
	"fmt"
	"image"
	"math"
	"slices"
	"unsafe"
)

// A picture is what a geometry shows: pixels from 0 to 255, row by row, red, green and blue of each.
type picture struct {
	w, h   int
	pix    []float32
	inside image.Rectangle // beyond it all values of a tensor are 0
}

// A comparison is between a tensor and the exact one.
type comparison struct {
	model      *model
	photos     photos
	theirs     tensor
	deviations []deviation
	placements []placement
	base       recipe
	limited    bool // the configuration's geometry is not understood: only deviations of values are tried
}

func newComparison(m *model, file []byte, theirs tensor) (*comparison, error) {
	c := &comparison{model: m, theirs: theirs, base: recipe{geometry{turned: m.turned, filter: m.filter}, m.values}}
	size := theirs.size()
	c.deviations, c.placements = m.deviations(size), m.placements(size)
	var err error
	if c.photos, err = decodeAll(file); err != nil {
		return nil, err
	}
	// The recipe without a deviation must make the exact tensor.
	p, ok := c.build(c.base.geometry)
	if ok && p.w == m.w && p.h == m.h && p.leftover(c.base.values, tensor{values: m.exact, bits: 23}).exact {
		return c, nil
	}
	c.limited = true
	c.deviations = slices.DeleteFunc(c.deviations, func(d deviation) bool { return d.values == nil })
	return c, nil
}

// build makes the picture of a geometry. It is not there if the geometry makes no sense for this image.
func (c *comparison) build(g geometry) (p picture, ok bool) {
	const most = 1 << 26 // values of one pass of a resize
	if c.limited {
		return c.seen(), g == c.base.geometry
	}
	from := c.photos.plain
	switch {
	case g.golang && g.turned:
		from = c.photos.golangTurned
	case g.golang:
		from = c.photos.golang
	case g.turned:
		from = c.photos.turned
	}
	if len(from.pix) == 0 {
		return picture{}, false
	}
	f := c.placements[g.place].of(from.w, from.h)
	if f.w < 1 || f.h < 1 || f.crop.Empty() || f.from.Empty() || !f.from.In(image.Rect(0, 0, from.w, from.h)) {
		return picture{}, false
	}
	if rows := max(f.from.Dy(), f.h); f.w > most/rows || f.crop.Dx() > most/f.crop.Dy() {
		return picture{}, false
	}
	if f.from != image.Rect(0, 0, from.w, from.h) {
		from = from.cut(f.from)
	}
	pix, ok := from.resize(f.w, f.h, filters[g.filter], g.round)
	if !ok {
		return picture{}, false
	}
	return f.crops(pix), true
}

// crops takes what a frame shows of a resized image.
func (f frame) crops(pix []float32) picture {
	p := picture{w: f.crop.Dx(), h: f.crop.Dy(), inside: image.Rect(0, 0, f.crop.Dx(), f.crop.Dy())}
	p.pix = make([]float32, 0, 3*p.w*p.h)
	whole := image.Rect(0, 0, f.w, f.h)
	if f.zeroed {
		p.inside = whole.Sub(f.crop.Min).Intersect(p.inside)
	}
	for y := f.crop.Min.Y; y < f.crop.Max.Y; y++ {
		for x := f.crop.Min.X; x < f.crop.Max.X; x++ {
			if at := 3 * (y*f.w + x); image.Pt(x, y).In(whole) {
				p.pix = append(p.pix, pix[at:at+3]...)
			} else {
				p.pix = append(p.pix, f.fill[:]...)
			}
		}
	}
	return p
}

// seen is the picture that the exact tensor shows.
func (c *comparison) seen() picture {
	return pictureOf(c.model.exact, c.model.w, c.model.h, c.base.values)
}

// pictureOf is what a tensor of a w×h image shows, if its values are v.
func pictureOf(all []float32, w, h int, v values) picture {
	p := picture{w: w, h: h, pix: make([]float32, 3*w*h), inside: image.Rect(0, 0, w, h)}
	for ch := range 3 {
		from, a, b := v.channel(ch)
		for y := range h {
			for x := range w {
				p.pix[3*(y*w+x)+from] = float32((float64(all[v.layout.at(ch, y, x, w, h)]) - b) / a)
			}
		}
	}
	return p
}

// key is the same for equal pictures.
func (p picture) key() [32]byte {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p.pix))), 4*len(p.pix))
	return sha256.Sum256(append(fmt.Appendf(nil, "%d %d %v ", p.w, p.h, p.inside), bytes...))
}

// A leftover is the difference between a recipe's tensor and theirs, in levels: 1/255 of the way from black to white.
type leftover struct {
	mean, most float64
	share      float64 // of the values that differ by more than rounding
	exact      bool    // no value does
}

// leftover compares every value.
func (p picture) leftover(v values, theirs tensor) (l leftover) {
	different := 0
	for ch := range 3 {
		from, a, b := v.channel(ch)
		for y := range p.h {
			for x := range p.w {
				want := 0.0
				if image.Pt(x, y).In(p.inside) {
					want = a*float64(p.pix[3*(y*p.w+x)+from]) + b
				}
				u := float64(theirs.values[v.layout.at(ch, y, x, p.w, p.h)])
				d := math.Abs((u - want) / a)
				if math.IsNaN(d) {
					d = math.Inf(1)
				}
				l.mean, l.most = l.mean+d, max(l.most, d)
				if d > theirs.tolerance(u, &v) {
					different++
				}
			}
		}
	}
	n := float64(len(p.pix))
	l.mean, l.share, l.exact = l.mean/n, float64(different)/n, different == 0
	return l
}

// sums are what the least squares of any values need of a picture and a tensor in one layout. They make it cheap to try
// every scale, mean, std and order of channels.
type sums struct {
	pixels  float64       // how many are inside
	x, xx   [3]float64    // of the picture's channels, and of their squares
	u, uu   [3]float64    // of the tensor's
	xu      [3][3]float64 // of products, [tensor][picture]
	outside [3]float64    // squares of the tensor beyond
	all     float64       // values
}

func (p picture) sums(l layout, theirs []float32) (s sums) {
	s.all = float64(len(p.pix))
	s.pixels = float64(p.inside.Dx() * p.inside.Dy())
	for y := range p.h {
		for x := range p.w {
			var u [3]float64
			for c := range u {
				u[c] = float64(theirs[l.at(c, y, x, p.w, p.h)])
			}
			if !image.Pt(x, y).In(p.inside) {
				for c, u := range u {
					s.outside[c] += u * u
				}
				continue
			}
			pixel := p.pix[3*(y*p.w+x):][:3]
			for c, u := range u {
				v := float64(pixel[c])
				s.x[c], s.xx[c] = s.x[c]+v, s.xx[c]+v*v
				s.u[c], s.uu[c] = s.u[c]+u, s.uu[c]+u*u
				for k, v := range pixel {
					s.xu[c][k] += u * float64(v)
				}
			}
		}
	}
	return s
}

// rms is the root of the mean square of what values leave, in levels.
func (s *sums) rms(v *values) float64 {
	total := 0.0
	for c := range 3 {
		p, a, b := v.channel(c)
		inside := a*a*s.xx[p] + 2*a*b*s.x[p] + s.pixels*b*b - 2*a*s.xu[c][p] - 2*b*s.u[c] + s.uu[c]
		total += (max(inside, 0) + s.outside[c]) / (a * a)
	}
	return math.Sqrt(total / s.all)
}

// fit is the scale and the mean per channel that come nearest, as mean and std after base's scale. It is not there if a channel shows nothing.
func (s *sums) fit(base values) (v values, ok bool) {
	v = base
	for c := range 3 {
		p, _, _ := base.channel(c)
		to := c
		if base.reversed {
			to = 2 - c
		}
		variance := s.xx[p] - s.x[p]*s.x[p]/s.pixels
		a := (s.xu[c][p] - s.x[p]*s.u[c]/s.pixels) / variance
		b := (s.u[c] - a*s.x[p]) / s.pixels
		if !(variance > s.pixels && a > 0) || math.IsInf(a, 0) {
			return v, false
		}
		v.std[to] = base.scale / a
		v.mean[to] = -b * v.std[to]
	}
	return v, true
}
