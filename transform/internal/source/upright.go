package source

import (
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Upright is a source rotated by its orientation. The steps see the rotated
// image, and only the part that they need is decoded.
type Upright struct {
	src         Image
	orientation int       // EXIF's, 2 to 8
	w, h        int       // as decoded
	pix         []byte    // as decoded
	values      []float32 // as decoded, with Depth16
}

// Begin begins with an image of w×h pixels, and returns the size of the rotated one.
func (u *Upright) Begin(src Image, orientation, w, h int) (int, int) {
	u.src, u.orientation, u.w, u.h = src, orientation, w, h
	return u.Size()
}

// Size is the size of the rotated image.
func (u *Upright) Size() (w, h int) {
	if u.swaps() {
		return u.h, u.w
	}
	return u.w, u.h
}

// swaps reports whether rows become columns, mirrored whether left and right are
// exchanged, and upended whether top and bottom are.
func (u *Upright) swaps() bool { return u.orientation >= 5 }

func (u *Upright) mirrored() bool { o := u.orientation; return o == 2 || o == 3 || o == 7 || o == 8 }

func (u *Upright) upended() bool { o := u.orientation; return o == 3 || o == 4 || o == 6 || o == 7 }

func (u *Upright) Decode(dst []byte, stride int, window image.Rectangle) error {
	part := u.before(window)
	w, h := part.Dx(), part.Dy()
	u.pix = raster.Grow(u.pix, 4*w*h)
	if err := u.src.Decode(u.pix, 4*w, part); err != nil {
		return err
	}
	first, right, down := u.steps(w, h, 4)
	for y := range window.Dy() {
		row, at := dst[y*stride:][:4*window.Dx()], first+y*down
		for x := 0; x < len(row); x += 4 {
			copy(row[x:x+4], u.pix[at:at+4])
			at += right
		}
	}
	return nil
}

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

// steps says where the rotated image's first pixel is in w×h pixels of the given size, and how far it is from one
// pixel and from one row of the rotated image to the next.
func (u *Upright) steps(w, h, size int) (first, right, down int) {
	right, down = size, size*w
	if u.mirrored() {
		first, right = first+size*(w-1), -right
	}
	if u.upended() {
		first, down = first+size*w*(h-1), -down
	}
	if u.swaps() {
		right, down = down, right
	}
	return first, right, down
}

func (u *Upright) Samples() (int, dataset.Dtype, error) { return u.src.(Values).Samples() }

func (u *Upright) DecodeValues(dst []float32, window image.Rectangle) error {
	n, _, err := u.Samples()
	if err != nil {
		return err
	}
	part := u.before(window)
	w, h := part.Dx(), part.Dy()
	u.values = raster.GrowFloats(u.values, n*w*h)
	if err := u.src.(Values).DecodeValues(u.values, part); err != nil {
		return err
	}
	first, right, down := u.steps(w, h, 1)
	for c := range n {
		plane := u.values[c*w*h:][:w*h]
		for y := range window.Dy() {
			at := first + y*down
			row := dst[(c*window.Dy()+y)*window.Dx():][:window.Dx()]
			for x := range row {
				row[x] = plane[at]
				at += right
			}
		}
	}
	return nil
}
