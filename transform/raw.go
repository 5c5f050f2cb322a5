package transform

import (
	"errors"
	"image"

	"github.com/penstock-go/penstock/dataset"
)

// raw is an image that the dataset gives as pixels.
type raw struct {
	pix         []byte
	w, h        int
	pixel, row  int // bytes from one pixel, or row, to the next
	green, blue int // bytes from red; 0 in grey images

	// With Depth16 pixel and row count elements of dtype instead of bytes.
	dtype    dataset.Dtype
	channels int
	plane    int // from a channel to the next
}

// rawOf is the layout of a field with this shape.
func rawOf(f dataset.Field) (raw, error) {
	s := f.Shape
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	switch {
	case f.Dtype != dataset.Uint8:
		return raw{}, errors.New("want uint8")
	case len(s) == 2:
		return raw{h: s[0], w: s[1], pixel: 1, row: s[1]}, nil
	case len(s) == 3 && channels(s[2]):
		r := raw{h: s[0], w: s[1], pixel: s[2], row: s[1] * s[2]}
		if s[2] > 1 {
			r.green, r.blue = 1, 2
		}
		return r, nil
	case len(s) == 3 && channels(s[0]):
		r := raw{h: s[1], w: s[2], pixel: 1, row: s[2]}
		if s[0] > 1 {
			r.green, r.blue = s[1]*s[2], 2*s[1]*s[2]
		}
		return r, nil
	}
	return raw{}, errors.New("want the shape (h, w), (h, w, c) or (c, h, w) with 1, 3 or 4 channels")
}

func (s *raw) decode(dst []byte, stride int, window image.Rectangle) error {
	for y := range window.Dy() {
		at := (window.Min.Y+y)*s.row + window.Min.X*s.pixel
		out := dst[y*stride:][:4*window.Dx()]
		for x := 0; x < len(out); x += 4 {
			out[x], out[x+1], out[x+2], out[x+3] = s.pix[at], s.pix[at+s.green], s.pix[at+s.blue], 255
			at += s.pixel
		}
	}
	return nil
}
