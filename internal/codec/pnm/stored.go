package pnm

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

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
	case d.kind.plain:
		if err := d.plainSamples(dst, area, window); err != nil {
			return fmt.Errorf("pnm: decode: %w", err)
		}
		return nil
	}
	n := d.rowBytes()
	for y := window.Min.Y; y < window.Max.Y; y++ {
		from := y
		if d.kind.float {
			from = d.h - 1 - y
		}
		row := d.data[from*n:][:n]
		for c := range d.kind.bands {
			out := dst[c*area+(y-window.Min.Y)*window.Dx():][:window.Dx()]
			for i := range out {
				out[i] = d.stored(row, window.Min.X+i, c)
			}
		}
	}
	return nil
}

// stored is sample c of pixel x of a row that is not plain.
func (d *Decoder) stored(row []byte, x, c int) float32 {
	at := x*d.kind.bands + c
	switch {
	case d.kind.bits:
		return d.scaledUp(int(row[x/8]>>(7-x%8)&1 ^ 1))
	case d.kind.float && d.kind.swapped:
		return math.Float32frombits(binary.LittleEndian.Uint32(row[4*at:]))
	case d.kind.float:
		return math.Float32frombits(binary.BigEndian.Uint32(row[4*at:]))
	case d.maxval > 255:
		return d.scaledUp(int(binary.BigEndian.Uint16(row[2*at:])))
	}
	return d.scaledUp(int(row[at]))
}

// scaledUp rounds halves to even, as Pillow does.
func (d *Decoder) scaledUp(v int) float32 {
	if d.maxval == 65535 {
		return float32(v)
	}
	v = min(v, d.maxval)
	return float32(math.RoundToEven(float64(v) / float64(d.maxval) * 65535))
}

// plainSamples reads the whole image, so that a file is valid for all windows or for none.
func (d *Decoder) plainSamples(dst []float32, area int, window image.Rectangle) error {
	d.scan = scanner{data: d.data}
	for y := range d.h {
		for x := range d.w {
			inside := image.Pt(x, y).In(window)
			at := (y-window.Min.Y)*window.Dx() + x - window.Min.X
			for c := range d.kind.bands {
				v, err := d.plainSample()
				if err != nil {
					return fmt.Errorf("pixel (%d, %d): %w", x, y, err)
				}
				if inside {
					dst[c*area+at] = d.scaledUp(v)
				}
			}
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
