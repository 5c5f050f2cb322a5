package source

import (
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Upright is a source rotated by its orientation. The steps see the rotated
// image, and only the part that they need is decoded.
type Upright struct {
	src         Bands
	orientation int             // EXIF's, 2 to 8
	w, h        int             // as decoded
	pix         []byte          // as decoded, or in DecodeBands rotated
	part        image.Rectangle // of the image as decoded
	dst         []byte          // the part rotated
	stride      int
	turns       func(pix []byte, stride, from, to int) // the method turn
	values      []float32                              // as decoded, with Depth16
}

// Begin begins with an image of w×h pixels, and returns the size of the rotated one.
func (u *Upright) Begin(src Bands, orientation, w, h int) (int, int) {
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
	u.part, u.dst, u.stride = u.before(window), dst, stride
	w, h := u.part.Dx(), u.part.Dy()
	u.pix = raster.Grow(u.pix, 4*w*h)
	if err := u.src.Decode(u.pix, 4*w, u.part); err != nil {
		return err
	}
	u.turn(u.pix, 4*w, 0, h)
	return nil
}

func (u *Upright) Shares(window image.Rectangle) bool { return u.src.Shares(u.before(window)) }

func (u *Upright) DecodeBands(window image.Rectangle, n int, use func(pix []byte, stride, from, to int)) error {
	u.pix = raster.Grow(u.pix, 4*window.Dx()*window.Dy())
	u.part, u.dst, u.stride = u.before(window), u.pix, 4*window.Dx()
	if u.turns == nil {
		u.turns = u.turn
	}
	err := u.src.DecodeBands(u.part, n, u.turns)
	if err == nil {
		use(u.pix, u.stride, 0, window.Dy())
	}
	return err
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

// turn rotates row from to row to-1 of the part, which pix holds. Several goroutines
// may call it for different rows.
func (u *Upright) turn(pix []byte, stride, from, to int) {
	w, h := u.part.Dx(), to-from
	// Where the result's first pixel is in pix, and the bytes from one pixel and
	// from one row of the result to the next.
	first, right, down := 0, 4, stride
	if u.mirrored() {
		first, right = first+4*(w-1), -right
	}
	if u.upended() {
		first, down = first+stride*(h-1), -down
		from, to = u.part.Dy()-to, u.part.Dy()-from
	}
	r := image.Rect(0, from, w, to) // of the result
	if u.swaps() {
		right, down = down, right
		r = image.Rect(from, 0, to, w)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row, at := u.dst[y*u.stride+4*r.Min.X:][:4*r.Dx()], first
		for x := 0; x < len(row); x += 4 {
			copy(row[x:x+4], pix[at:at+4])
			at += right
		}
		first += down
	}
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
