package transform

import (
	"fmt"
	"image"
	"image/color"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// An Image is what a [Transform] edits: pixels of red, green and blue with 8 bits each. It implements
// [image/draw.Image]; loops over Pix are much faster.
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

// Planes is an image with any number of channels, as float32 values: one plane after the other. It is what a
// [SampleTransform] edits with [Depth16].
type Planes struct {
	// Pix holds Channels·Height·Width values. That of channel c in column x of row y is
	// Pix[(c*Height+y)*Width+x].
	Pix                     []float32
	Channels, Width, Height int
	// Dtype is the dtype in which the values were stored: dataset.Uint8, dataset.Uint16,
	// dataset.Int16 or dataset.Float32. The zero value means dataset.Float32. Values of
	// integers are whole numbers, up to 65535 for Uint16. Values of floats are usually from
	// 0 to 1.
	Dtype dataset.Dtype
}

// Plane is the plane of channel c, row by row.
// It panics if there is no such channel.
func (m *Planes) Plane(c int) []float32 {
	if c < 0 || c >= m.Channels {
		panic(fmt.Sprintf("transform: Plane(%d): want 0 to %d: the image has %s", c, m.Channels-1, figures.Count(m.Channels, "channel", "channels")))
	}
	n := m.Width * m.Height
	return m.Pix[c*n : (c+1)*n : (c+1)*n]
}
