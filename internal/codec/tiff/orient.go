package tiff

import (
	"image"
	"math"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// An orientation is how a stored image is rotated and mirrored before it is shown, 1
// to 8 as in TIFF 6.0. Any other value means 1.
type orientation int

// swaps reports whether rows become columns, mirrored whether left and right of the
// stored image are exchanged, and upended whether its top and bottom are.
func (o orientation) swaps() bool    { return o >= 5 }
func (o orientation) mirrored() bool { return o == 2 || o == 3 || o == 7 || o == 8 }
func (o orientation) upended() bool  { return o == 3 || o == 4 || o == 6 || o == 7 }

// size is the size of the rotated image.
func (o orientation) size(w, h int) (int, int) {
	if o.swaps() {
		return h, w
	}
	return w, h
}

// readOrientation returns the orientation of the field or, if that is missing, of the
// XMP data, as Pillow does. Without either it is 1.
func readOrientation(d *directory) (int, error) {
	v, err := d.field(orientationTag)
	switch {
	case err != nil:
		return 0, err
	case v.kind == 0:
	case v.isInteger():
		return valid(int(v.uint(0) & math.MaxUint16)), nil
	default:
		return 1, nil
	}
	xmp, err := d.field(xmpTag)
	if err != nil {
		return 0, err
	}
	return valid(jpeg.Orientation(nil, xmp.data)), nil
}

func valid(o int) int {
	if o < 1 || o > 8 {
		return 1
	}
	return o
}

// A target is where the pixels of a stored image go.
type target struct {
	window      image.Rectangle // of the stored image
	dst         []byte
	at          int // index in dst of the window's first pixel
	right, down int // from a pixel to its neighbours in the stored image
}

// target is the target of a window of the rotated image, which has w×h pixels. Pixels are
// step elements apart and rows stride. The caller sets dst.
func (o orientation) target(step, stride int, window image.Rectangle, w, h int) target {
	t := target{window: window, right: step, down: stride}
	if o.swaps() {
		t.window = image.Rect(window.Min.Y, window.Min.X, window.Max.Y, window.Max.X)
		t.right, t.down = t.down, t.right
		w, h = h, w
	}
	if o.mirrored() {
		t.window.Min.X, t.window.Max.X = w-t.window.Max.X, w-t.window.Min.X
		t.at += (t.window.Dx() - 1) * t.right
		t.right = -t.right
	}
	if o.upended() {
		t.window.Min.Y, t.window.Max.Y = h-t.window.Max.Y, h-t.window.Min.Y
		t.at += (t.window.Dy() - 1) * t.down
		t.down = -t.down
	}
	return t
}

// offset is the index in dst of pixel (x, y) of the stored image.
func (t *target) offset(x, y int) int {
	return t.at + (x-t.window.Min.X)*t.right + (y-t.window.Min.Y)*t.down
}

// turn copies pixels of a row of the stored image, from (x, y) on, to the target. If a
// row goes to the target from left to right, its pixels are there already.
func (t *target) turn(x, y int, pixels []byte) {
	if t.right == 4 {
		return
	}
	at := t.offset(x, y)
	for i := 0; i < len(pixels); i += 4 {
		copy(t.dst[at:at+4], pixels[i:i+4])
		at += t.right
	}
}
