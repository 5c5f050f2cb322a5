package source

import (
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Upright is a file rotated by its orientation. The steps see the rotated
// image, and only the part that they need is decoded.
type Upright struct {
	src         *Files
	orientation int // EXIF's, 2 to 8
	w, h        int // as decoded
	pix         []byte
	values      []float32 // with Depth16
}

// Begin begins with an image of w×h pixels, and returns the size of the rotated one.
func (u *Upright) Begin(src *Files, orientation, w, h int) (int, int) {
	u.src, u.orientation, u.w, u.h = src, orientation, w, h
	if u.swaps() {
		return h, w
	}
	return w, h
}

// swaps reports whether rows become columns, mirrored whether left and right are
// exchanged, and upended whether top and bottom are.
func (u *Upright) swaps() bool { return u.orientation >= 5 }

func (u *Upright) mirrored() bool { o := u.orientation; return o == 2 || o == 3 || o == 7 || o == 8 }

func (u *Upright) upended() bool { o := u.orientation; return o == 3 || o == 4 || o == 6 || o == 7 }

// before is the part of the decoded image that becomes the window.
func (u *Upright) before(window image.Rectangle) image.Rectangle {
	r := window
	if u.swaps() {
		r = image.Rect(r.Min.Y, r.Min.X, r.Max.Y, r.Max.X)
	}
	if u.mirrored() {
		r.Min.X, r.Max.X = u.w-r.Max.X, u.w-r.Min.X
	}
	if u.upended() {
		r.Min.Y, r.Max.Y = u.h-r.Max.Y, u.h-r.Min.Y
	}
	return r
}

func (u *Upright) Decode(dst []byte, stride int, window image.Rectangle) error {
	part := u.before(window)
	w, h := part.Dx(), part.Dy()
	u.pix = raster.Grow(u.pix, 4*w*h)
	if err := u.src.Decode(u.pix, 4*w, part); err != nil {
		return err
	}
	turn(u, dense.Values[uint32](dst), stride/4, window.Size(), dense.Values[uint32](u.pix), w, h)
	return nil
}

// Memory implements Costly.
func (u *Upright) Memory(window image.Rectangle) int64 {
	part := u.before(window)
	channels := 1
	if u.src.deep() {
		channels, _, _ = u.Samples()
	}
	turned := 4 * int64(max(1, channels)) * int64(part.Dx()) * int64(part.Dy())
	return u.src.Memory(part) + turned + turned/4 + 64
}

func (u *Upright) Samples() (int, dataset.Dtype, error) { return u.src.Samples() }

func (u *Upright) DecodeValues(dst []float32, window image.Rectangle) error {
	n, _, err := u.Samples()
	if err != nil {
		return err
	}
	part, size := u.before(window), window.Size()
	w, h := part.Dx(), part.Dy()
	u.values = raster.GrowFloats(u.values, n*w*h)
	if err := u.src.DecodeValues(u.values, part); err != nil {
		return err
	}
	for c := range n {
		turn(u, dst[c*size.X*size.Y:], size.X, size, u.values[c*w*h:], w, h)
	}
	return nil
}

// turn writes w×h pixels, rotated, to dst, whose rows are stride apart.
func turn[T uint32 | float32](u *Upright, dst []T, stride int, size image.Point, src []T, w, h int) {
	// Where the first pixel of dst is in src, and the steps right and down.
	first, right, down := 0, 1, w
	if u.mirrored() {
		first, right = first+w-1, -right
	}
	if u.upended() {
		first, down = first+w*(h-1), -down
	}
	if u.swaps() {
		right, down = down, right
	}
	for y := range size.Y {
		row, at := dst[y*stride:][:size.X], first+y*down
		for x := range row {
			row[x] = src[at]
			at += right
		}
	}
}
