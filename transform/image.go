package transform

import (
	"image"
	"image/color"
)

// An Image is what a [Transform] edits: pixels of red, green and blue with 8 bits
// each. A Transform must not keep it after Apply returns.
//
// It implements [image/draw.Image], for code that works with that interface. Loops
// over Pix are much faster.
type Image struct {
	// Pix holds 4 bytes per pixel: red, green, blue, and one that is ignored.
	// The pixel in column x of row y begins at 4*(y*Width+x).
	Pix           []uint8
	Width, Height int
}

// ColorModel is [color.NRGBAModel].
func (m *Image) ColorModel() color.Model { return color.NRGBAModel }

// Bounds is the rectangle from (0, 0) to (Width, Height).
func (m *Image) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

// At is the colour of a pixel, always opaque. Outside the image it is black.
func (m *Image) At(x, y int) color.Color {
	if !(image.Point{X: x, Y: y}).In(m.Bounds()) {
		return color.NRGBA{A: 255}
	}
	p := m.Pix[4*(y*m.Width+x):]
	return color.NRGBA{p[0], p[1], p[2], 255}
}

// Set changes the colour of a pixel, without alpha. Outside the image it does
// nothing.
func (m *Image) Set(x, y int, c color.Color) {
	if !(image.Point{X: x, Y: y}).In(m.Bounds()) {
		return
	}
	v := color.NRGBAModel.Convert(c).(color.NRGBA)
	p := m.Pix[4*(y*m.Width+x):]
	p[0], p[1], p[2] = v.R, v.G, v.B
}
