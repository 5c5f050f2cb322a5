package png

import (
	"encoding/binary"
	"image"

	"github.com/penstock-go/penstock/internal/dense"
)

// NumberBytes is how many bytes DecodeNumbers writes per pixel: 1, 2 for 16 bits, and 4 for
// colours.
func (d *Decoder) NumberBytes() int {
	switch {
	case d.colour == RGB || d.colour == RGBAlpha:
		return 4
	case d.depth == 16:
		return 2
	}
	return 1
}

// DecodeNumbers writes the first rows of a mask to dst, which must be aligned for its numbers: uint8 for
// indices of a palette and grey values of up to 8 bits, uint16 for those of 16 bits, and int32
// for ids of segments in colours of 8 bits: red + 256·green + 65536·blue. Grey values of 2 and 4
// bits are spread over 0 to 255, and those of 1 bit stay 0 and 1, as in Pillow. The file must not
// have grey with alpha, nor colours of 16 bits.
//
// If it is called again for more rows, it goes on; dst must begin with the rows before.
func (d *Decoder) DecodeNumbers(dst []byte, rows int) error {
	if err := d.check(image.Rect(0, 0, d.w, rows)); err != nil || rows <= d.done {
		return err
	}
	n := d.w * d.NumberBytes()
	if len(dst) < n*rows {
		return errRoom
	}
	show := func(row []byte, y int, p pass) {
		if y < rows {
			d.numbers(dst[y*n:][:n], row, p)
		}
	}
	first := d.done
	d.done = -1
	var err error
	if first < 0 || d.laced {
		err = d.decode(rows, show)
	} else {
		err = d.goOn(first, rows, show)
	}
	if err == nil {
		d.done = rows
	}
	return err
}

// numbers writes those of a row.
func (d *Decoder) numbers(dst, row []byte, p pass) {
	switch d.NumberBytes() {
	case 2:
		out := dense.Values[uint16](dst)
		for x := p.x; x < d.w; x += p.dx {
			out[x] = binary.BigEndian.Uint16(row)
			row = row[2:]
		}
		return
	case 4:
		out, size := dense.Values[int32](dst), d.bits()/8
		for x := p.x; x < d.w; x += p.dx {
			out[x] = int32(row[0]) | int32(row[1])<<8 | int32(row[2])<<16
			row = row[size:]
		}
		return
	}
	if d.depth == 8 && p.dx == 1 {
		copy(dst, row)
		return
	}
	times := uint8(1)
	if d.colour == Grey && d.depth > 1 {
		times = d.spread()
	}
	for i, x := 0, p.x; x < d.w; i, x = i+1, x+p.dx {
		dst[x] = d.bitsAt(row, i) * times
	}
}
