package png

import (
	"encoding/binary"
	"image"

	"github.com/penstock-go/penstock/dataset"
)

// StoredSamples is the number of samples per pixel of the file whose header was read: 1 for grey,
// 2 with alpha, 3 for colours and palettes, 4 with alpha.
func (d *Decoder) StoredSamples() (n int, dtype dataset.Dtype, ok bool) {
	n = d.colour.channels()
	if d.colour == Palette {
		n = 3
	}
	return n, dataset.Uint16, d.data != nil
}

// DecodeSamples writes the window, which is the whole image or a part of it, one plane after the
// other without gaps: values of 16 bits as stored, and those of fewer bits spread over 0 to 65535.
// Transparent colours stay as they are.
func (d *Decoder) DecodeSamples(dst []float32, window image.Rectangle) error {
	n, _, _ := d.StoredSamples()
	if err := d.check(window); err != nil || window.Empty() {
		return err
	}
	area := window.Dx() * window.Dy()
	if len(dst) != n*area {
		return errRoom
	}
	d.done = -1
	return d.decode(window.Max.Y, func(row []byte, y int, p pass) {
		if y < window.Min.Y || y >= window.Max.Y {
			return
		}
		for c := range n {
			out := dst[c*area+(y-window.Min.Y)*window.Dx():][:window.Dx()]
			first := max(0, (window.Min.X-p.x+p.dx-1)/p.dx)
			for i, x := first, p.x+first*p.dx; x < window.Max.X; i, x = i+1, x+p.dx {
				out[x-window.Min.X] = d.sample(row, i, n, c)
			}
		}
	})
}

// sample is sample c of n of pixel x.
func (d *Decoder) sample(row []byte, x, n, c int) float32 {
	switch {
	case d.depth == 16:
		return float32(binary.BigEndian.Uint16(row[2*(x*n+c):]))
	case d.colour == Palette && d.depth == 8:
		return 257 * float32(d.palette[row[x]][c])
	case d.depth == 8:
		return 257 * float32(row[x*n+c])
	case d.colour == Palette:
		return 257 * float32(d.palette[d.bitsAt(row, x)][c])
	}
	return 257 * float32(d.bitsAt(row, x)*d.spread())
}
