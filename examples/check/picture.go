package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

// draw writes a PNG file with the exact picture, theirs and the difference side by side, and returns by how much the
// difference is multiplied. Theirs is seen with the values of the recipe that was found, so that what is left
// to see are the pixels.
func (c *comparison) draw(path string, found recipe) (gain int, err error) {
	exact := c.seen()
	p, _ := c.build(found.geometry)
	theirs := pictureOf(c.theirs.values, p.w, p.h, found.values)
	w, h := max(exact.w, theirs.w), max(exact.h, theirs.h)
	most := 0.0
	difference := picture{w: min(exact.w, theirs.w), h: min(exact.h, theirs.h)}
	for y := range difference.h {
		for x := range difference.w {
			for ch := range 3 {
				d := exact.pix[3*(y*exact.w+x)+ch] - theirs.pix[3*(y*theirs.w+x)+ch]
				difference.pix = append(difference.pix, float32(math.Abs(float64(d))))
				most = max(most, math.Abs(float64(d)))
			}
		}
	}
	for gain = 1; gain < 64 && most*float64(2*gain) <= 255; {
		gain *= 2
	}
	const gap = 4
	m := image.NewNRGBA(image.Rect(0, 0, 3*w+2*gap, h))
	exact.onto(m, 0, 1)
	theirs.onto(m, w+gap, 1)
	difference.onto(m, 2*(w+gap), float32(gain))
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	if err := png.Encode(file, m); err != nil {
		file.Close()
		return 0, err
	}
	return gain, file.Close()
}

// onto draws the picture from column left on.
func (p picture) onto(m *image.NRGBA, left int, gain float32) {
	byteOf := func(v float32) uint8 { return uint8(min(max(v*gain, 0), 255) + 0.5) }
	for y := range p.h {
		for x := range p.w {
			v := p.pix[3*(y*p.w+x):]
			m.SetNRGBA(left+x, y, color.NRGBA{byteOf(v[0]), byteOf(v[1]), byteOf(v[2]), 255})
		}
	}
}
