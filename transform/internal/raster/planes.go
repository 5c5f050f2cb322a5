package raster

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// ColorModel is [color.NRGBA64Model].
func (m *Planes) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds is the rectangle from (0, 0) to (Width, Height).
func (m *Planes) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

// At is the colour of a pixel, or black outside the image.
func (m *Planes) At(x, y int) color.Color {
	out := color.NRGBA64{A: math.MaxUint16}
	if !(image.Point{X: x, Y: y}).In(m.Bounds()) {
		return out
	}
	level := func(c int) uint16 {
		v := m.Plane(c)[y*m.Width+x] / DepthOf(m.Dtype).Most
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

// MaxChannels is the limit of channels.
const MaxChannels = 4096

// Check is the error of planes whose lengths do not fit, because users make them.
func (m *Planes) Check() error {
	switch {
	case m.Channels < 1 || m.Channels > MaxChannels || m.Width < 1 || m.Height < 1 || m.Width > math.MaxInt32 || m.Height > math.MaxInt32:
	case m.Width > len(m.Pix)/m.Height || m.Width*m.Height > len(m.Pix)/m.Channels || len(m.Pix) != m.Channels*m.Width*m.Height:
	case !IsDeep(m.Dtype):
		return fmt.Errorf("planes of %v: want Uint8, Uint16, Int16 or Float32", m.Dtype)
	default:
		return nil
	}
	return fmt.Errorf("%d values for %d channels of %s", len(m.Pix), m.Channels, figures.Pixels(m.Width, m.Height))
}

// Describe is what steps must keep.
func (m *Planes) Describe() string {
	return fmt.Sprintf("%s of %s in %d values of %s",
		figures.Count(m.Channels, "channel", "channels"), figures.Pixels(m.Width, m.Height), len(m.Pix), m.Dtype.String())
}

// Describe is what steps must keep.
func (m *Image) Describe() string {
	return fmt.Sprintf("%s in %d bytes", figures.Pixels(m.Width, m.Height), len(m.Pix))
}

// IsDeep reports whether Planes may have this dtype.
func IsDeep(dt dataset.Dtype) bool {
	return dt == dataset.Dtype(0) || dt == dataset.Float32 || DepthOf(dt).Whole
}
