package source

import (
	"fmt"
	"image"
	"image/color"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
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

// decodeSamples writes a window of the image that load has decoded, and gives the image away.
func (d *ownDecoder) decodeSamples(dst []float32, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	img := d.img
	d.img = nil
	convertValues(dst, img, window.Add(img.Bounds().Min))
	return nil
}

// load decodes the image, which decodeSamples gives away.
func (d *ownDecoder) load() (err error) {
	if d.img != nil {
		return nil
	}
	defer guarded(d.field, &err)
	img, err := d.whole()
	if err != nil {
		return err
	}
	if m, ok := img.(*raster.Planes); ok {
		if err := m.Check(); err != nil {
			return err
		}
	}
	d.img = img
	return nil
}

func (d *Decoded) Samples() (n int, dtype dataset.Dtype, err error) {
	defer d.guarded(&err)
	if m, ok := d.Image.(*raster.Planes); ok {
		if err := m.Check(); err != nil {
			return 0, dataset.Dtype(0), err
		}
	}
	n, dtype = samplesOf(d.Image)
	return n, dtype, nil
}

func (d *Decoded) DecodeValues(dst []float32, window image.Rectangle) (err error) {
	defer d.guarded(&err)
	convertValues(dst, d.Image, window.Add(d.Bounds().Min))
	return nil
}

// samplesOf is the number of channels of an image, and their dtype.
func samplesOf(img image.Image) (int, dataset.Dtype) {
	switch m := img.(type) {
	case *raster.Planes:
		return m.Channels, m.Dtype
	case *image.Gray, *image.Gray16:
		return 1, dataset.Uint16
	case *image.NRGBA, *image.NRGBA64:
		return 4, dataset.Uint16
	case *image.RGBA:
		if !m.Opaque() {
			return 4, dataset.Uint16
		}
	case *image.RGBA64:
		if !m.Opaque() {
			return 4, dataset.Uint16
		}
	}
	return 3, dataset.Uint16
}

// convertValues writes a window of an image with the channels of samplesOf.
func convertValues(dst []float32, img image.Image, window image.Rectangle) {
	m, ok := img.(*raster.Planes)
	if !ok {
		n, _ := samplesOf(img)
		convertChannels(dst, n, img, window)
		return
	}
	w := window.Dx()
	for c := range m.Channels {
		plane := m.Plane(c)
		for y := window.Min.Y; y < window.Max.Y; y++ {
			copy(dst[:w], plane[y*m.Width+window.Min.X:])
			dst = dst[w:]
		}
	}
}

// convertChannels writes n channels of a window of an image of the standard library: grey, grey
// and alpha, colours, or colours and alpha.
func convertChannels(dst []float32, n int, img image.Image, window image.Rectangle) {
	from := [4]int{0, 1, 2, 3}
	switch m := img.(type) {
	case *image.RGBA:
		if n == 3 { // without alpha both types have the same values
			img = (*image.NRGBA)(m)
		}
	case *image.RGBA64:
		if n == 3 {
			img = (*image.NRGBA64)(m)
		}
	}
	if n == 2 {
		from[1] = 3
	}
	area := window.Dx() * window.Dy()
	for c := range n {
		plane := dst[c*area:][:area]
		for y := window.Min.Y; y < window.Max.Y; y++ {
			row := plane[(y-window.Min.Y)*window.Dx():][:window.Dx()]
			rowOfChannel(row, img, window.Min.X, y, from[c])
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
