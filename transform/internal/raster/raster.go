// Package raster has the operations on pixels: each is a function of memory, sizes and parameters that were drawn
// before. Images are of two kinds, and both are Frames: [Bytes] are red, green and blue with 8 bits each, and change as
// PIL's images do, bit for bit; [Floats] are planes of any number of channels, and change as torchvision's tensors of
// their dtype do. A Frame belongs to one goroutine at a time and keeps its memory from image to image.
package raster

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
)

// A Frame is an image that the operations change, with the memory that they need.
type Frame interface {
	// Size is the number of columns and rows.
	Size() (w, h int)
	// Channels is the number of channels.
	Channels() int
	// Most is the greatest value, white.
	Most() float64

	// Brightness blends with black, Contrast with the mean grey, and Saturation with the grey image: a factor of 1
	// changes nothing. Hue rotates hues by a part of the circle, from -0.5 to 0.5. Planes of other than three channels
	// have no saturation and no hue.
	Brightness(factor float64)
	Contrast(factor float64)
	Saturation(factor float64)
	Hue(part float64)
	// Grey makes an image of 1 or 3 channels grey, with this number of channels.
	Grey(channels int)
	// Permute gives channel c the values of channel from[c].
	Permute(from []int)

	// Posterize keeps the highest bits of every value.
	Posterize(bits int)
	// Solarize inverts values that are threshold or more.
	Solarize(threshold float64)
	// Invert inverts all values.
	Invert()
	// Autocontrast stretches the values of each channel from black to white.
	Autocontrast()
	// Equalize equalises the histogram of each channel.
	Equalize()

	// Sharpness blends with a smoothed image; a factor of 0 gives that one.
	Sharpness(factor float64)
	// Blur blurs with a Gaussian kernel of w×h pixels, both odd.
	Blur(w, h int, sigma float64)
	// Noise adds random numbers of a normal distribution, by parts of the greatest value.
	Noise(mean, sigma float64, r *rand.Rand)

	// Warp replaces the image by what m shows of it, in w×h pixels.
	Warp(m Mapping, w, h int, p Painter)
	// Rotate turns the image; its size becomes that of t.
	Rotate(t Turn, p Painter)
	// Displace moves every pixel by a vector of f.
	Displace(f *Field, p Painter)
	// Pad replaces the image by frame, in its coordinates; mode, which is not Constant, says what is outside.
	Pad(frame image.Rectangle, mode PadMode)

	// MixBegin remembers the image, and begins a sum with weight times it. MixAgain makes the image what it was then,
	// MixAdd adds weight times the image that it has become, and MixEnd makes it the sum.
	MixBegin(weight float32)
	MixAgain()
	MixAdd(weight float32)
	MixEnd()
}

// Adjust changes brightness, contrast, saturation or hue, which are numbered from 0 in this order.
func Adjust(f Frame, what int, factor float64) {
	switch what {
	case 0:
		f.Brightness(factor)
	case 1:
		f.Contrast(factor)
	case 2:
		f.Saturation(factor)
	default:
		f.Hue(factor)
	}
}

// An Image has 4 bytes per pixel: red, green, blue, and one that is ignored. The pixel in column x of row y begins at
// 4*(y*Width+x).
type Image struct {
	Pix           []uint8
	Width, Height int
}

// Resize gives the image memory for w×h pixels, with undefined content.
func (m *Image) Resize(w, h int) {
	m.Width, m.Height = w, h
	m.Pix = Grow(m.Pix, 4*w*h)
}

// Grow makes b n bytes long. Kernels may read past its end, up to its capacity.
func Grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4+64)
	}
	return b[:n]
}

// Bytes is a Frame of 8 bits.
type Bytes struct {
	Image       // the current one
	Spare Image // what operations write, and Swap makes the current one

	blur     blur
	before   []uint8 // of a mixture
	sum      []float32
	recoding *recoding // made when it is first needed
}

func (m *Bytes) Size() (w, h int) { return m.Width, m.Height }

func (m *Bytes) Channels() int { return 3 }

func (m *Bytes) Most() float64 { return math.MaxUint8 }

// Swap makes the spare image the current one.
func (m *Bytes) Swap() { m.Image, m.Spare = m.Spare, m.Image }

// FillRow sets all pixels of a row.
func FillRow(dst []byte, c [3]uint8) {
	for x := 0; x+4 <= len(dst); x += 4 {
		dst[x], dst[x+1], dst[x+2], dst[x+3] = c[0], c[1], c[2], 255
	}
}

// Planes has one plane of values after the other: that of channel c in column x of row y is Pix[(c*Height+y)*Width+x].
// Dtype is the dtype in which the values were stored; its zero value means float32.
type Planes struct {
	Pix                     []float32
	Channels, Width, Height int
	Dtype                   dataset.Dtype
}

// Plane is the plane of channel c, row by row.
func (m *Planes) Plane(c int) []float32 {
	n := m.Width * m.Height
	return m.Pix[c*n : (c+1)*n : (c+1)*n]
}

// Resize gives the image memory for w×h pixels, with undefined content.
func (m *Planes) Resize(channels, w, h int) {
	m.Channels, m.Width, m.Height = channels, w, h
	m.Pix = GrowFloats(m.Pix, channels*w*h)
}

// GrowFloats makes v n values long.
func GrowFloats(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n, n+n/4)
	}
	return v[:n]
}

// Floats is a Frame of float32 values. The number of channels and the dtype of Planes count even while no image is in
// memory, so that what becomes one has them.
type Floats struct {
	Planes           // the current image
	Spare  Planes    // what operations write, and Swap makes the current one
	soft   softener  // of Blur
	before []float32 // of a mixture
	sum    []float32
}

func (m *Floats) Size() (w, h int) { return m.Width, m.Height }

func (m *Floats) Channels() int { return m.Planes.Channels }

func (m *Floats) Most() float64 { return float64(m.depth().Most) }

// Swap makes the spare image the current one, of the same dtype.
func (m *Floats) Swap() {
	dtype := m.Dtype
	m.Planes, m.Spare = m.Spare, m.Planes
	m.Dtype = dtype
}

// makeSpare gives the spare image memory for w×h pixels of the image's channels.
func (m *Floats) makeSpare(w, h int) { m.Spare.Resize(m.Planes.Channels, w, h) }

func (m *Floats) depth() Depth { return DepthOf(m.Dtype) }

// A Depth is the range of a dtype's values.
type Depth struct {
	Least, Most float32 // of floats: 0 and 1, which they may exceed
	Whole       bool    // they are integers
}

// DepthOf is the range of a dtype.
func DepthOf(dt dataset.Dtype) Depth {
	switch dt {
	case dataset.Uint8:
		return Depth{0, math.MaxUint8, true}
	case dataset.Uint16:
		return Depth{0, math.MaxUint16, true}
	case dataset.Int16:
		return Depth{math.MinInt16, math.MaxInt16, true}
	}
	return Depth{0, 1, false}
}

// bits is how many bits of an integer say its value, without the sign.
func (d Depth) bits() int { return math.Ilogb(float64(d.Most)) + 1 }

// Settle converts computed values to values of the dtype. Integers are rounded, halves to even, and clamped to the range;
// NaN becomes 0.
func (d Depth) Settle(values []float32) {
	if !d.Whole {
		return
	}
	for i, v := range values {
		v = roundEven(v)
		if !(v >= d.Least) {
			if v != v {
				v = 0
			} else {
				v = d.Least
			}
		} else if v > d.Most {
			v = d.Most
		}
		values[i] = v
	}
}

// SettleBytes is Settle for a resize of uint8: halves are rounded up, as torch and Pillow do there. No value is NaN.
func SettleBytes(values []float32) {
	for i, v := range values {
		values[i] = float32(int32(min(max(v, 0), 255) + 0.5))
	}
}

// cut clamps a value to the range from black to white. Integers lose their fraction.
func (d Depth) cut(v float32) float32 {
	if v < 0 {
		v = 0
	} else if v > d.Most {
		v = d.Most
	}
	if d.Whole {
		v = float32(int32(v))
	}
	return v
}

// trunc rounds a value towards 0, within the range of an integer's dtype.
func (d Depth) trunc(v float32) float32 {
	switch {
	case v < d.Least:
		return d.Least
	case v > d.Most:
		return d.Most
	case v >= d.Least:
		return float32(int32(v))
	}
	return 0 // NaN, of a hue below black
}

// roundEven rounds values below 2^22 in magnitude, halves to even.
func roundEven(v float32) float32 {
	const shift = 3 << 22
	return float32(v+shift) - shift
}

// floor rounds the value of an integer down.
func floor(v float32) float32 {
	whole := float32(int32(v))
	if whole > v {
		whole--
	}
	return whole
}

// A Painter says how a warp fills its result.
type Painter struct {
	Filter resize.Filter // Nearest, Bilinear or Bicubic, which do not antialias here
	Fill   Fill
}

// A Fill is what is outside the image. Its zero value is black.
type Fill struct {
	Colour [3]uint8   // of Bytes
	Values *[]float32 // of Floats: one value per channel, or one for all; nil is 0
}

// Of is the value of channel c of Floats.
func (f Fill) Of(c int) float32 {
	if f.Values == nil {
		return 0
	}
	return (*f.Values)[c%len(*f.Values)]
}

// MaxChannels is the limit of channels.
const MaxChannels = 4096

// Describe is what steps must keep.
func (m *Planes) Describe() string {
	return fmt.Sprintf("%s of %s in %d values of %s",
		figures.Count(m.Channels, "channel", "channels"), figures.Pixels(m.Width, m.Height), len(m.Pix), m.Dtype.String())
}

// Describe is what steps must keep.
func (m *Image) Describe() string {
	return fmt.Sprintf("%s in %d bytes", figures.Pixels(m.Width, m.Height), len(m.Pix))
}
