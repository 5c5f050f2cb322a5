package source

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// Decoded is an image of the standard library as a source.
type Decoded struct{ image.Image }

func (d *Decoded) Size(w, h *int) (err error) {
	defer d.guarded(&err)
	*w, *h = d.Bounds().Dx(), d.Bounds().Dy()
	return nil
}

// guarded is deferred where methods of the image are called, and makes an error of a panic.
func (d *Decoded) guarded(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("transform: Decoded(%T): %w", d.Image, &dataset.PanicError{Value: v, Stack: debug.Stack()})
	}
}

func (d *Decoded) Decode(dst []byte, stride int, window image.Rectangle) (err error) {
	defer d.guarded(&err)
	convert(dst, stride, d.Image, window.Add(d.Bounds().Min))
	return nil
}

// A storedDecoder is a decoder that can return samples as they are stored.
type storedDecoder interface {
	// StoredSamples is the number of samples per pixel, and their dtype. Ok is false if
	// the open file has none but those of Decode.
	StoredSamples() (n int, dtype dataset.Dtype, ok bool)
	// DecodeSamples writes a window of the image, one plane after the other.
	DecodeSamples(dst []float32, window image.Rectangle) error
}

func (d *Decoded) Samples() (n int, dtype dataset.Dtype, err error) {
	defer d.guarded(&err)
	return channelsOf(d.Image), dataset.Uint16, nil
}

func (d *Decoded) DecodeValues(dst []float32, window image.Rectangle) (err error) {
	defer d.guarded(&err)
	convertValues(dst, d.Image, window.Add(d.Bounds().Min))
	return nil
}

// channelsOf is the number of channels of an image of the standard library, whose values have 16 bits.
func channelsOf(img image.Image) int {
	switch m := img.(type) {
	case *image.Gray, *image.Gray16:
		return 1
	case *image.NRGBA, *image.NRGBA64:
		return 4
	case *image.RGBA:
		if !m.Opaque() {
			return 4
		}
	case *image.RGBA64:
		if !m.Opaque() {
			return 4
		}
	}
	return 3
}

// convertValues writes the channels of a window of an image.
func convertValues(dst []float32, img image.Image, window image.Rectangle) {
	n := channelsOf(img)
	if m, ok := img.(*image.RGBA); ok && n == 3 { // without alpha both types have the same values
		img = (*image.NRGBA)(m)
	}
	if m, ok := img.(*image.RGBA64); ok && n == 3 {
		img = (*image.NRGBA64)(m)
	}
	for c := range n {
		for y := window.Min.Y; y < window.Max.Y; y++ {
			rowOfChannel(dst[:window.Dx()], img, window.Min.X, y, c)
			dst = dst[window.Dx():]
		}
	}
}

// rowOfChannel writes a channel of row y from column x on, as values of 16 bits.
func rowOfChannel(row []float32, img image.Image, x, y, c int) {
	switch m := img.(type) {
	case *image.Gray:
		levels8(row, m.Pix[m.PixOffset(x, y):], 1)
		return
	case *image.Gray16:
		levels16(row, m.Pix[m.PixOffset(x, y):], 2)
		return
	case *image.NRGBA:
		levels8(row, m.Pix[m.PixOffset(x, y)+c:], 4)
		return
	case *image.NRGBA64:
		levels16(row, m.Pix[m.PixOffset(x, y)+2*c:], 8)
		return
	}
	for i := range row {
		v := color.NRGBA64Model.Convert(img.At(x+i, y)).(color.NRGBA64)
		row[i] = float32([4]uint16{v.R, v.G, v.B, v.A}[c])
	}
}

// levels8 converts bytes that are step apart.
func levels8(row []float32, pix []byte, step int) {
	for i := range row {
		row[i] = float32(257 * int(pix[i*step]))
	}
}

// levels16 converts numbers of two bytes that are step apart.
func levels16(row []float32, pix []byte, step int) {
	for i := range row {
		row[i] = float32(int(pix[i*step])<<8 | int(pix[i*step+1]))
	}
}

func (s *Raw) Samples() (int, dataset.Dtype, error) {
	return s.channels, s.dtype, nil
}

func (s *Raw) DecodeValues(dst []float32, window image.Rectangle) error {
	switch s.dtype {
	case dataset.Uint16:
		cutOut(dst, s, dense.Values[uint16](s.Pix), window)
	case dataset.Int16:
		cutOut(dst, s, dense.Values[int16](s.Pix), window)
	case dataset.Float32:
		cutOut(dst, s, dense.Values[float32](s.Pix), window)
	default:
		cutOut(dst, s, s.Pix, window)
	}
	return nil
}

// cutOut copies a window of an array.
func cutOut[T uint8 | uint16 | int16 | float32](dst []float32, s *Raw, values []T, window image.Rectangle) {
	for c := range s.channels {
		for y := window.Min.Y; y < window.Max.Y; y++ {
			at := c*s.plane + y*s.row + window.Min.X*s.Pixel
			row := dst[:window.Dx()]
			for i := range row {
				row[i] = float32(values[at])
				at += s.Pixel
			}
			dst = dst[len(row):]
		}
	}
}

// Raw is an image that the dataset gives as pixels.
type Raw struct {
	Pix         []byte
	W, H        int
	Pixel, row  int // bytes from one pixel, or row, to the next
	Green, Blue int // bytes from red; 0 in grey images

	// With Depth16 pixel and row count elements of dtype instead of bytes.
	dtype    dataset.Dtype
	channels int
	plane    int // from a channel to the next
}

// PixelsOf is the layout of a field with this shape.
func PixelsOf(f dataset.Field) (Raw, error) {
	s := f.Shape
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	switch {
	case f.Dtype != dataset.Uint8:
		return Raw{}, errors.New("want uint8")
	case len(s) == 2:
		return Raw{H: s[0], W: s[1], Pixel: 1, row: s[1]}, nil
	case len(s) == 3 && channels(s[2]):
		r := Raw{H: s[0], W: s[1], Pixel: s[2], row: s[1] * s[2]}
		if s[2] > 1 {
			r.Green, r.Blue = 1, 2
		}
		return r, nil
	case len(s) == 3 && channels(s[0]):
		r := Raw{H: s[1], W: s[2], Pixel: 1, row: s[2]}
		if s[0] > 1 {
			r.Green, r.Blue = s[1]*s[2], 2*s[1]*s[2]
		}
		return r, nil
	}
	return Raw{}, errors.New("want the shape (h, w), (h, w, c) or (c, h, w) with 1, 3 or 4 channels")
}

// ArraysOf is the layout of a field of arrays with n channels.
func ArraysOf(f dataset.Field, n int) (Raw, error) {
	s := f.Shape
	r := Raw{dtype: f.Dtype, channels: n}
	switch {
	case f.Dtype != dataset.Float32 && !raster.DepthOf(f.Dtype).Whole:
		return Raw{}, fmt.Errorf("%s: want uint8, uint16, int16 or float32", f.Dtype)
	case len(s) == 2 && n == 1:
		r.H, r.W, r.Pixel, r.row = s[0], s[1], 1, s[1]
	case len(s) == 3 && s[2] == n:
		r.H, r.W, r.Pixel, r.row, r.plane = s[0], s[1], n, n*s[1], 1
	case len(s) == 3 && s[0] == n:
		r.H, r.W, r.Pixel, r.row, r.plane = s[1], s[2], 1, s[2], s[1]*s[2]
	default:
		return Raw{}, fmt.Errorf("want %d channels as Depth16 says: the shape (h, w, %d) or (%d, h, w), or (h, w) for one", n, n, n)
	}
	return r, nil
}

func (s *Raw) Decode(dst []byte, stride int, window image.Rectangle) error {
	for y := range window.Dy() {
		at := (window.Min.Y+y)*s.row + window.Min.X*s.Pixel
		out := dst[y*stride:][:4*window.Dx()]
		for x := 0; x < len(out); x += 4 {
			out[x], out[x+1], out[x+2], out[x+3] = s.Pix[at], s.Pix[at+s.Green], s.Pix[at+s.Blue], 255
			at += s.Pixel
		}
	}
	return nil
}

// RGB is an image of w×h pixels, 3 bytes each.
func RGB(pix []byte, w, h int) Raw {
	return Raw{Pix: pix, W: w, H: h, Pixel: 3, row: 3 * w, Green: 1, Blue: 2, dtype: dataset.Uint8, channels: 3, plane: 1}
}

// CheckRGB is the error of an image of RGB whose size is not that of its memory.
func (s *Raw) CheckRGB() error {
	switch {
	case s.W < 1 || s.H < 1:
		return fmt.Errorf("transform: into: RGB of %s: want 1 or more", figures.Pixels(s.W, s.H))
	case s.H > len(s.Pix)/3/s.W || 3*s.W*s.H != len(s.Pix):
		return fmt.Errorf("transform: into: %d bytes of RGB for %s: want %d, 3 for each", len(s.Pix), figures.Pixels(s.W, s.H), 3*s.W*s.H)
	}
	return nil
}
