package pnm

import (
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
