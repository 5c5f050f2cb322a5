package pnm

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
)

// rows calls show for the rows of a window, with all samples of each: of 1 bit, 8 bits, or 16 or 32
// with the highest byte first. Of a plain file it reads all rows, so that a file is valid for all
// windows or for none.
func (d *Decoder) rows(window image.Rectangle, show func(y int, row []byte)) error {
	if d.kind.plain {
		return d.plainRows(window, show)
	}
	n := d.rowBytes()
	for y := window.Min.Y; y < window.Max.Y; y++ {
		from := y
		if d.kind.float {
			from = d.h - 1 - y
		}
		show(y-window.Min.Y, d.data[from*n:][:n])
	}
	return nil
}

func (d *Decoder) plainRows(window image.Rectangle, show func(y int, row []byte)) error {
	d.scan = scanner{data: d.data}
	n := d.w * d.kind.bands
	if cap(d.row) < 2*n {
		d.row = make([]byte, 2*n)
	}
	row := d.row[:2*n]
	for y := range d.h {
		for i := range n {
			v, err := d.plainSample()
			if err != nil {
				return fmt.Errorf("pixel (%d, %d): %w", i/d.kind.bands, y, err)
			}
			binary.BigEndian.PutUint16(row[2*i:], uint16(v))
		}
		if y >= window.Min.Y && y < window.Max.Y {
			show(y-window.Min.Y, row)
		}
	}
	return nil
}

func (d *Decoder) plainSample() (int, error) {
	if d.kind.bits {
		v, err := d.scan.bit()
		return 1 - v, err // 1 is black
	}
	return d.scan.number(d.maxval)
}

// sample is number i of a row of integers.
func (d *Decoder) sample(row []byte, i int) int {
	switch {
	case d.kind.plain || d.maxval > 255:
		return int(binary.BigEndian.Uint16(row[2*i:]))
	case d.kind.bits:
		return int(row[i/8]>>(7-i%8)&1 ^ 1)
	}
	return int(row[i])
}

// float is number i of a row of floats.
func (d *Decoder) float(row []byte, i int) float32 {
	bits := binary.BigEndian.Uint32(row[4*i:])
	if d.kind.swapped {
		bits = binary.LittleEndian.Uint32(row[4*i:])
	}
	return math.Float32frombits(bits)
}

// pixels writes len(dst)/4 pixels of a row, from pixel x on.
func (d *Decoder) pixels(dst, row []byte, x int) {
	switch {
	case d.kind.float:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], gray(cut(d.float(row, x+i/4))))
		}
	case d.kind.bands == 1:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], gray(d.value(d.sample(row, x+i/4))))
		}
	case d.maxval == 255 && !d.kind.plain:
		row = row[3*x:]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], [3]uint8(row))
			row = row[3:]
		}
	default:
		for i := 0; i < len(dst); i += 4 {
			k := 3 * (x + i/4)
			put(dst[i:], [3]uint8{d.value(d.sample(row, k)), d.value(d.sample(row, k+1)), d.value(d.sample(row, k+2))})
		}
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
