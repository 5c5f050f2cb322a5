package main

import (
	"image"
	"math"
)

// An rgb is a colour in linear light, 1 being white.
type rgb [3]float64

// A shader gives the colour at (x, y): y runs from 0 at the top to 1 at the
// bottom, x from 0 at the left in the same unit.
type shader func(x, y float64) rgb

// hex returns the sRGB colour 0xRRGGBB.
func hex(v uint32) rgb {
	var c rgb
	for i := range c {
		c[i] = math.Pow(float64(v>>(16-8*i)&255)/255, 2.2)
	}
	return c
}

func (c rgb) times(f float64) rgb { return rgb{c[0] * f, c[1] * f, c[2] * f} }

func (c rgb) plus(d rgb) rgb { return rgb{c[0] + d[0], c[1] + d[1], c[2] + d[2]} }

// mix is a at t = 0 and b at t = 1.
func mix(a, b rgb, t float64) rgb { return a.times(1 - t).plus(b.times(t)) }

// A palette is a list of colours, blended in their order.
type palette []rgb

func colours(vs ...uint32) palette {
	p := make(palette, len(vs))
	for i, v := range vs {
		p[i] = hex(v)
	}
	return p
}

// at is the colour at t, from 0 for the first colour to 1 for the last.
func (p palette) at(t float64) rgb {
	t = clamp(t) * float64(len(p)-1)
	i := min(int(t), len(p)-2)
	return mix(p[i], p[i+1], t-float64(i))
}

// render paints an image with four samples per pixel, a darker rim and a
// little grain, as a camera would.
func render(size image.Point, s shader) *image.RGBA {
	m := image.NewRGBA(image.Rectangle{Max: size})
	unit := 1 / float64(size.Y)
	grain := noise{uint64(size.X), uint64(size.Y)}
	for py := range size.Y {
		for px := range size.X {
			var c rgb
			for _, d := range [4][2]float64{{0.375, 0.125}, {0.875, 0.375}, {0.125, 0.625}, {0.625, 0.875}} {
				sample := s((float64(px)+d[0])*unit, (float64(py)+d[1])*unit)
				for i := range c {
					c[i] += math.Min(sample[i], 1) / 4
				}
			}
			u, v := 2*float64(px)/float64(size.X)-1, 2*float64(py)/float64(size.Y)-1
			c = c.times(1 - 0.14*(u*u+v*v))
			pixel := m.Pix[m.PixOffset(px, py):]
			g := (grain.lattice(px, py) - 0.5) * 0.016
			for i := range c {
				pixel[i] = uint8(255*clamp(math.Pow(math.Max(c[i], 0), 1/2.2)+g) + 0.5)
			}
			pixel[3] = 255
		}
	}
	return m
}

func clamp(t float64) float64 { return math.Min(math.Max(t, 0), 1) }

// smooth rises from 0 at t ≤ a to 1 at t ≥ b without a corner.
func smooth(a, b, t float64) float64 {
	t = clamp((t - a) / (b - a))
	return t * t * (3 - 2*t)
}
