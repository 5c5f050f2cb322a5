package transform

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// An Image is what a [Transform] edits: pixels of red, green and blue with 8 bits each.
type Image struct {
	// Pix holds 4 bytes per pixel: red, green, blue, and one that is ignored.
	// The pixel in column x of row y begins at 4*(y*Width+x).
	Pix           []uint8
	Width, Height int
}

// Planes is an image with any number of channels, as float32 values: one plane after the other. It is what a
// [SampleTransform] edits with [Depth16].
type Planes struct {
	// Pix holds Channels·Height·Width values. That of channel c in column x of row y is Pix[(c*Height+y)*Width+x].
	Pix                     []float32
	Channels, Width, Height int
	// Dtype is the dtype in which the values were stored: dataset.Uint8, dataset.Uint16, dataset.Int16 or
	// dataset.Float32. Values of integers are whole numbers.
	Dtype dataset.Dtype
}

// Plane is the plane of channel c, row by row. It panics if there is no such channel.
func (m *Planes) Plane(c int) []float32 {
	if c < 0 || c >= m.Channels {
		panic(fmt.Sprintf("transform: Plane(%d): want 0 to %d: the image has %s", c, m.Channels-1, figures.Count(m.Channels, "channel", "channels")))
	}
	n := m.Width * m.Height
	return m.Pix[c*n : (c+1)*n : (c+1)*n]
}
