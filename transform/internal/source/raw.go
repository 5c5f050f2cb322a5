package source

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// Raw is an image that the dataset gives as pixels.
type Raw struct {
	Pix         []byte
	W, H        int
	Pixel, row  int // bytes from one pixel, or row, to the next
	Green, Blue int // bytes from red; 0 in grey images

	// With Depth16 pixel and row count elements of dtype instead of bytes.
	dtype    dataset.Dtype
	channels int
	plane    int // from a channel to the next
}

// PixelsOf is the layout of a field with this shape.
func PixelsOf(f dataset.Field) (Raw, error) {
	s := f.Shape
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	switch {
	case f.Dtype != dataset.Uint8:
		return Raw{}, errors.New("want uint8")
	case len(s) == 2:
		return Raw{H: s[0], W: s[1], Pixel: 1, row: s[1]}, nil
	case len(s) == 3 && channels(s[2]):
		r := Raw{H: s[0], W: s[1], Pixel: s[2], row: s[1] * s[2]}
		if s[2] > 1 {
			r.Green, r.Blue = 1, 2
		}
		return r, nil
	case len(s) == 3 && channels(s[0]):
		r := Raw{H: s[1], W: s[2], Pixel: 1, row: s[2]}
		if s[0] > 1 {
			r.Green, r.Blue = s[1]*s[2], 2*s[1]*s[2]
		}
		return r, nil
	}
	return Raw{}, errors.New("want the shape (h, w), (h, w, c) or (c, h, w) with 1, 3 or 4 channels")
}

// ArraysOf is the layout of a field of arrays with n channels.
func ArraysOf(f dataset.Field, n int) (Raw, error) {
	s := f.Shape
	r := Raw{dtype: f.Dtype, channels: n}
	switch {
	case f.Dtype != dataset.Float32 && !raster.DepthOf(f.Dtype).Whole:
		return Raw{}, fmt.Errorf("%s: want uint8, uint16, int16 or float32", f.Dtype)
	case len(s) == 2 && n == 1:
		r.H, r.W, r.Pixel, r.row = s[0], s[1], 1, s[1]
	case len(s) == 3 && s[2] == n:
		r.H, r.W, r.Pixel, r.row, r.plane = s[0], s[1], n, n*s[1], 1
	case len(s) == 3 && s[0] == n:
		r.H, r.W, r.Pixel, r.row, r.plane = s[1], s[2], 1, s[2], s[1]*s[2]
	default:
		return Raw{}, fmt.Errorf("want %d channels as Depth16 says: the shape (h, w, %d) or (%d, h, w), or (h, w) for one", n, n, n)
	}
	return r, nil
}

func (s *Raw) Decode(dst []byte, stride int, window image.Rectangle) error {
	for y := range window.Dy() {
		at := (window.Min.Y+y)*s.row + window.Min.X*s.Pixel
		out := dst[y*stride:][:4*window.Dx()]
		for x := 0; x < len(out); x += 4 {
			out[x], out[x+1], out[x+2], out[x+3] = s.Pix[at], s.Pix[at+s.Green], s.Pix[at+s.Blue], 255
			at += s.Pixel
		}
	}
	return nil
}

// RGB is an image of w×h pixels, 3 bytes each.
func RGB(pix []byte, w, h int) Raw {
	return Raw{Pix: pix, W: w, H: h, Pixel: 3, row: 3 * w, Green: 1, Blue: 2, dtype: dataset.Uint8, channels: 3, plane: 1}
}

// CheckRGB is the error of an image of RGB whose size is not that of its memory.
func (s *Raw) CheckRGB() error {
	switch {
	case s.W < 1 || s.H < 1:
		return fmt.Errorf("transform: into: RGB of %s: want 1 or more", figures.Pixels(s.W, s.H))
	case s.H > len(s.Pix)/3/s.W || 3*s.W*s.H != len(s.Pix):
		return fmt.Errorf("transform: into: %d bytes of RGB for %s: want %d, 3 for each", len(s.Pix), figures.Pixels(s.W, s.H), 3*s.W*s.H)
	}
	return nil
}
