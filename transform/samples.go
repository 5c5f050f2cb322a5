package transform

import (
	"image"
	"image/color"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A storedDecoder is a decoder that can return samples as they are stored.
type storedDecoder interface {
	// StoredSamples is the number of samples per pixel, and their dtype. Ok is false if
	// the open file has none but those of Decode.
	StoredSamples() (n int, dtype dataset.Dtype, ok bool)
	// DecodeSamples writes a window of the image, one plane after the other.
	DecodeSamples(dst []float32, window image.Rectangle) error
}

func (f *files) samples() (int, dataset.Dtype, error) {
	if own, ok := f.now.(*ownDecoder); ok {
		if err := own.load(); err != nil {
			return 0, dataset.Dtype(0), f.wrap(err)
		}
		n, dtype := samplesOf(own.img)
		return n, dtype, nil
	}
	if d, ok := f.now.(storedDecoder); ok {
		if n, dtype, ok := d.StoredSamples(); ok {
			return n, dtype, nil
		}
	}
	return 3, dataset.Uint16, nil
}

func (f *files) decodeValues(dst []float32, window image.Rectangle) error {
	if own, ok := f.now.(*ownDecoder); ok {
		if err := own.load(); err != nil {
			return f.wrap(err)
		}
		return f.wrap(own.decodeSamples(dst, window))
	}
	if d, ok := f.now.(storedDecoder); ok {
		if _, _, ok := d.StoredSamples(); ok {
			return f.wrap(d.DecodeSamples(dst, window))
		}
	}
	w, n := window.Dx(), window.Dx()*window.Dy()
	f.shallow = raster.Grow(f.shallow, 4*n)
	if err := f.decode(f.shallow, 4*w, window); err != nil {
		return err
	}
	for c := range 3 {
		plane := dst[c*n:][:n]
		for i := range plane {
			plane[i] = float32(257 * int(f.shallow[4*i+c]))
		}
	}
	return nil
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

func (d *decoded) samples() (n int, dtype dataset.Dtype, err error) {
	defer d.guarded(&err)
	if m, ok := d.Image.(*raster.Planes); ok {
		if err := m.Check(); err != nil {
			return 0, dataset.Dtype(0), err
		}
	}
	n, dtype = samplesOf(d.Image)
	return n, dtype, nil
}

func (d *decoded) decodeValues(dst []float32, window image.Rectangle) (err error) {
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

func (s *raw) samples() (int, dataset.Dtype, error) {
	return s.channels, s.dtype, nil
}

func (s *raw) decodeValues(dst []float32, window image.Rectangle) error {
	switch s.dtype {
	case dataset.Uint16:
		cutOut(dst, s, dense.Values[uint16](s.pix), window)
	case dataset.Int16:
		cutOut(dst, s, dense.Values[int16](s.pix), window)
	case dataset.Float32:
		cutOut(dst, s, dense.Values[float32](s.pix), window)
	default:
		cutOut(dst, s, s.pix, window)
	}
	return nil
}

// cutOut copies a window of an array.
func cutOut[T uint8 | uint16 | int16 | float32](dst []float32, s *raw, values []T, window image.Rectangle) {
	for c := range s.channels {
		for y := window.Min.Y; y < window.Max.Y; y++ {
			at := c*s.plane + y*s.row + window.Min.X*s.pixel
			row := dst[:window.Dx()]
			for i := range row {
				row[i] = float32(values[at])
				at += s.pixel
			}
			dst = dst[len(row):]
		}
	}
}
