package pnm

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
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
		if err := d.stopped(); err != nil {
			return err
		}
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

// stopped is the error of Stop.
func (d *Decoder) stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
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

// StoredSamples is the number of samples per pixel of the file whose header was read, and
// their dtype: float32 for PFM, otherwise uint16.
func (d *Decoder) StoredSamples() (n int, dtype dataset.Dtype, ok bool) {
	if d.kind.float {
		return d.kind.bands, dataset.Float32, d.data != nil
	}
	return d.kind.bands, dataset.Uint16, d.data != nil
}

// GreyBits is how many bits Pillow's grey values of the file whose header was read have: 1, 8 or 16. It
// is 0 for colours and floats.
func (d *Decoder) GreyBits() int {
	switch {
	case d.data == nil || d.kind.bands > 1 || d.kind.float:
		return 0
	case d.kind.bits:
		return 1
	case d.maxval > 255:
		return 16
	}
	return 8
}

// DecodeSamples writes the window, which is the whole image or a part of it, one plane after
// the other without gaps. Samples are scaled from 0 to the file's maximum to 0 to 65535, and
// those of PFM are as they are stored. A sample above the maximum is an error in plain
// files and otherwise becomes 65535.
func (d *Decoder) DecodeSamples(dst []float32, window image.Rectangle) error {
	area := window.Dx() * window.Dy()
	switch {
	case d.data == nil:
		return errNoHeader
	case !window.In(image.Rect(0, 0, d.w, d.h)):
		return fmt.Errorf("pnm: decode: window %v exceeds the image's %d×%d", window, d.w, d.h)
	case len(dst) != d.kind.bands*area:
		return errRoom
	}
	err := d.rows(window, func(y int, row []byte) {
		for c := range d.kind.bands {
			out := dst[c*area+y*window.Dx():][:window.Dx()]
			for i := range out {
				k := (window.Min.X+i)*d.kind.bands + c
				if d.kind.float {
					out[i] = d.float(row, k)
				} else {
					out[i] = d.scaledUp(d.sample(row, k))
				}
			}
		}
	})
	if err != nil {
		return fmt.Errorf("pnm: decode: %w", err)
	}
	return nil
}

// scaledUp rounds halves to even, as Pillow does.
func (d *Decoder) scaledUp(v int) float32 {
	if d.maxval == 65535 {
		return float32(v)
	}
	v = min(v, d.maxval)
	return float32(math.RoundToEven(float64(v) / float64(d.maxval) * 65535))
}
