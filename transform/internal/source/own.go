package source

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// A registered decodes files of formats that the program has registered with package image.
type registered struct {
	field  string // of the images
	data   []byte
	reader bytes.Reader
	size   image.Point
	img    image.Image // the open file's, between channels and decodeSamples
}

// config reads the size and the name of the format. The error is [image.ErrFormat] if none is registered.
func (d *registered) config(data []byte) (name string, w, h int, err error) {
	defer guarded(d.field, &err)
	name = "registered format" // of a panic
	d.data, d.img = data, nil
	d.reader.Reset(data)
	c, name, err := image.DecodeConfig(&d.reader)
	d.size = image.Pt(c.Width, c.Height)
	return name, c.Width, c.Height, err
}

func (d *registered) Decode(dst []byte, stride int, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return err
	}
	convert(dst, stride, d.img, window.Add(d.img.Bounds().Min))
	d.img = nil
	return nil
}

// load decodes the image, which Decode and decodeSamples give away.
func (d *registered) load() error {
	if d.img != nil {
		return nil
	}
	d.reader.Reset(d.data)
	img, _, err := image.Decode(&d.reader)
	if err != nil {
		return err
	}
	if img == nil {
		return errors.New("the decoder returned no image")
	}
	if got := img.Bounds().Size(); got != d.size {
		return fmt.Errorf("the decoder made %s of an image of %d×%d", figures.Pixels(got.X, got.Y), d.size.Y, d.size.X)
	}
	d.img = img
	return nil
}

// channels is the number of channels of the open file.
func (d *registered) channels() (n int, err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return 0, err
	}
	return channelsOf(d.img), nil
}

// decodeSamples writes a window of the image, one plane after the other.
func (d *registered) decodeSamples(dst []float32, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return err
	}
	convertValues(dst, d.img, window.Add(d.img.Bounds().Min))
	d.img = nil
	return nil
}

// Guard calls code of the user that works on images of this field. A panic is an error, with its stack.
func Guard(field string, call func() error) (err error) {
	defer guarded(field, &err)
	return call()
}

// guarded is deferred where code of the user may panic, and makes an error of that.
func guarded(field string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("field %q: %w", field, &dataset.PanicError{Value: v, Stack: debug.Stack()})
	}
}

// convert writes a window of src to dst as Pillow's convert("RGB") does: alpha is
// dropped, not blended, and colours of 16 bits keep the upper 8.
func convert(dst []byte, stride int, src image.Image, window image.Rectangle) {
	window = window.Intersect(src.Bounds())
	w := window.Dx()
	if w == 0 {
		return
	}
	row := rows(src)
	for y := window.Min.Y; y < window.Max.Y; y++ {
		row(dst[(y-window.Min.Y)*stride:][:4*w], window.Min.X, y)
	}
}

// rows returns a function that writes pixels of row y of src to dst, from column x on.
func rows(src image.Image) func(dst []byte, x, y int) {
	switch m := src.(type) {
	case *image.YCbCr:
		return func(dst []byte, x, y int) { rowYCbCr(dst, m, x, y) }
	case *image.NYCbCrA:
		return func(dst []byte, x, y int) { rowYCbCr(dst, &m.YCbCr, x, y) }
	case *image.Gray:
		return func(dst []byte, x, y int) { rowGray(dst, m.Pix[m.PixOffset(x, y):]) }
	case *image.Gray16:
		return func(dst []byte, x, y int) { rowOfGray16(dst, m.Pix[m.PixOffset(x, y):]) }
	case *image.NRGBA:
		return func(dst []byte, x, y int) { copy(dst, m.Pix[m.PixOffset(x, y):]) }
	case *image.CMYK:
		return func(dst []byte, x, y int) { rowCMYK(dst, m.Pix[m.PixOffset(x, y):]) }
	case *image.RGBA:
		if m.Opaque() {
			return func(dst []byte, x, y int) { copy(dst, m.Pix[m.PixOffset(x, y):]) }
		}
	}
	return func(dst []byte, x, y int) {
		for i := 0; i < len(dst); i += 4 {
			c := Straight(src.At(x, y))
			dst[i], dst[i+1], dst[i+2], dst[i+3] = c[0], c[1], c[2], 255
			x++
		}
	}
}

func rowYCbCr(dst []byte, m *image.YCbCr, x, y int) {
	for i := 0; i < len(dst); i += 4 {
		c := m.COffset(x, y)
		r, g, b := color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
		dst[i], dst[i+1], dst[i+2], dst[i+3] = r, g, b, 255
		x++
	}
}

func rowGray(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		v := src[i/4]
		dst[i], dst[i+1], dst[i+2], dst[i+3] = v, v, v, 255
	}
}

// rowOfGray16 replaces values above 255 by 255, as Pillow does with 16-bit grey images.
func rowOfGray16(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		v := src[i/2+1]
		if src[i/2] > 0 {
			v = 255
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = v, v, v, 255
	}
}

// rowCMYK converts as Pillow does: (255 - ink) times (255 - black), divided by 255 and rounded.
func rowCMYK(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		left := 255 - int(src[i+3])
		for c := range 3 {
			v := int(src[i+c])*left + 128
			dst[i+c] = uint8(left - (v>>8+v)>>8)
		}
	}
}

// Straight is a colour without its alpha.
func Straight(c color.Color) [3]uint8 {
	switch c := c.(type) {
	case color.NRGBA:
		return [3]uint8{c.R, c.G, c.B}
	case color.RGBA:
		if c.A == 255 {
			return [3]uint8{c.R, c.G, c.B}
		}
	}
	v := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	return [3]uint8{uint8(v.R >> 8), uint8(v.G >> 8), uint8(v.B >> 8)}
}
