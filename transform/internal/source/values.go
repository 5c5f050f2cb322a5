package source

import (
	"fmt"
	"image"
	"image/color"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
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
