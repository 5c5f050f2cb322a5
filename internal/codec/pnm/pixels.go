package pnm

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
)

// decodePlain reads the whole image, so that a file is valid for all windows or for
// none.
func (d *Decoder) decodePlain(dst []byte, stride int, window image.Rectangle) error {
	d.scan = scanner{data: d.data}
	for y := range d.h {
		var row []byte
		if y >= window.Min.Y && y < window.Max.Y {
			row = dst[(y-window.Min.Y)*stride:]
		}
		for x := range d.w {
			rgb, err := d.plainPixel(&d.scan)
			if err != nil {
				return fmt.Errorf("pixel (%d, %d): %w", x, y, err)
			}
			if row != nil && x >= window.Min.X && x < window.Max.X {
				put(row[4*(x-window.Min.X):], rgb)
			}
		}
	}
	return nil
}

func (d *Decoder) plainPixel(s *scanner) (rgb [3]uint8, err error) {
	if d.kind.bits {
		v, err := s.bit()
		return gray(uint8(v - 1)), err // 1 is black
	}
	for i := range d.kind.bands {
		v, err := s.number(d.maxval)
		if err != nil {
			return rgb, err
		}
		rgb[i] = d.value(v)
	}
	if d.kind.bands == 1 {
		rgb = gray(rgb[0])
	}
	return rgb, nil
}

func (d *Decoder) decodeRaw(dst []byte, stride int, window image.Rectangle) error {
	n := d.rowBytes()
	for y := window.Min.Y; y < window.Max.Y; y++ {
		from := y
		if d.kind.float {
			from = d.h - 1 - y
		}
		row := dst[(y-window.Min.Y)*stride:][:4*window.Dx()]
		d.rawRow(row, d.data[from*n:][:n], window.Min.X)
	}
	return nil
}

// rawRow writes len(dst)/4 pixels of a row, from pixel x on.
func (d *Decoder) rawRow(dst, src []byte, x int) {
	switch {
	case d.kind.bits:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], gray(src[x/8]>>(7-x%8)&1-1))
			x++
		}
	case d.kind.float:
		d.floatRow(dst, src[4*x:])
	case d.kind.bands == 3:
		d.colourRow(dst, src, x)
	case d.maxval > 255:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], gray(d.value(int(binary.BigEndian.Uint16(src[2*x:])))))
			x++
		}
	default:
		for i, v := range src[x:][:len(dst)/4] {
			if d.maxval < 255 {
				v = d.value(int(v))
			}
			put(dst[4*i:], gray(v))
		}
	}
}

func (d *Decoder) colourRow(dst, src []byte, x int) {
	switch {
	case d.maxval == 255:
		src = src[3*x:]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], [3]uint8(src))
			src = src[3:]
		}
	case d.maxval < 255:
		src = src[3*x:]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], [3]uint8{d.value(int(src[0])), d.value(int(src[1])), d.value(int(src[2]))})
			src = src[3:]
		}
	default:
		src = src[6*x:]
		for i := 0; i < len(dst); i += 4 {
			for c := range 3 {
				dst[i+c] = d.value(int(binary.BigEndian.Uint16(src[2*c:])))
			}
			dst[i+3] = 255
			src = src[6:]
		}
	}
}

func (d *Decoder) floatRow(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		bits := binary.BigEndian.Uint32(src[i:])
		if d.kind.swapped {
			bits = binary.LittleEndian.Uint32(src[i:])
		}
		put(dst[i:], gray(cut(math.Float32frombits(bits))))
	}
}

// cut is Pillow's conversion of a float to 8 bits.
func cut(v float32) uint8 {
	switch {
	case v >= 255:
		return 255
	case v > 0:
		return uint8(v)
	}
	return 0 // for NaN too
}

func gray(v uint8) [3]uint8 { return [3]uint8{v, v, v} }

func put(dst []byte, c [3]uint8) {
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}
