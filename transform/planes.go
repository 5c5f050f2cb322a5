package transform

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// Planes is an image with any number of channels, as float32 values: one plane after the
// other. It is what a [PlanesTransform] edits, and what a function of [Decoder] may return
// for images of more than 8 bits or of more than 4 channels.
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

// ColorModel is [color.NRGBA64Model].
func (m *Planes) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds is the rectangle from (0, 0) to (Width, Height).
func (m *Planes) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

// At is the colour of a pixel, for code that shows images. Channels 0, 1 and 2 are red,
// green and blue. With fewer channels, the first one is grey. 0 is black, and the greatest
// number of Dtype, or 1.0, is white. Outside the image it is black.
func (m *Planes) At(x, y int) color.Color {
	out := color.NRGBA64{A: math.MaxUint16}
	if !(image.Point{X: x, Y: y}).In(m.Bounds()) {
		return out
	}
	level := func(c int) uint16 {
		v := m.Plane(c)[y*m.Width+x] / raster.DepthOf(m.Dtype).Most
		switch {
		case v >= 1:
			return math.MaxUint16
		case v > 0:
			return uint16(math.RoundToEven(float64(v) * math.MaxUint16))
		}
		return 0 // for NaN too
	}
	if m.Channels < 3 {
		v := level(0)
		out.R, out.G, out.B = v, v, v
		return out
	}
	out.R, out.G, out.B = level(0), level(1), level(2)
	return out
}

// check checks the lengths, because other packages make Planes.
func (m *Planes) check() error {
	switch {
	case m.Channels < 1 || m.Channels > maxChannels || m.Width < 1 || m.Height < 1 || m.Width > math.MaxInt32 || m.Height > math.MaxInt32:
	case m.Width > len(m.Pix)/m.Height || m.Width*m.Height > len(m.Pix)/m.Channels || len(m.Pix) != m.Channels*m.Width*m.Height:
	case !isDeep(m.Dtype):
		return fmt.Errorf("planes of %v: want Uint8, Uint16, Int16 or Float32", m.Dtype)
	default:
		return nil
	}
	return fmt.Errorf("%d values for %d channels of %s", len(m.Pix), m.Channels, pixelsOf(m.Width, m.Height))
}

// describe is what steps must keep.
func (m *Planes) describe() string {
	return fmt.Sprintf("%s of %s in %d values of %s",
		figures.Count(m.Channels, "channel", "channels"), pixelsOf(m.Width, m.Height), len(m.Pix), m.Dtype.String())
}

// isDeep reports whether Planes may have this dtype.
func isDeep(dt dataset.Dtype) bool {
	return dt == dataset.Dtype(0) || dt == dataset.Float32 || raster.DepthOf(dt).Whole
}
