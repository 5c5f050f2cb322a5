package source

import (
	"image"
	"image/color"
)

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
