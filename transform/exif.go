package transform

import "image"

// ExifTranspose rotates or mirrors the image of a JPEG, PNG or WebP file by the
// orientation in its Exif data. If there is none, it uses the orientation in the
// file's XMP data. Orientations 5 to 8 exchange width and height. All other images
// stay as they are: those without an orientation, in other formats, or given as
// pixels.
//
// The result is that of PIL's ImageOps.exif_transpose, which torchvision's
// datasets do not call. It must come before all steps that change the image.
func ExifTranspose() Step {
	const text = "ExifTranspose()"
	return setting{text, func(p *program) error {
		if err := p.first(); err != nil {
			return err
		}
		p.upright = true
		p.plan = append(p.plan, "rotate    "+text)
		return nil
	}}
}

// An upright is a source rotated by its orientation. The steps see the rotated
// image, and only the part that they need is decoded.
type upright struct {
	src         source
	orientation int // EXIF's, 2 to 8
	w, h        int // as decoded
	pix         []byte
}

// size is the size of the rotated image.
func (u *upright) size() (w, h int) {
	if u.swaps() {
		return u.h, u.w
	}
	return u.w, u.h
}

// swaps reports whether rows become columns, mirrored whether left and right are
// exchanged, and upended whether top and bottom are.
func (u *upright) swaps() bool    { return u.orientation >= 5 }
func (u *upright) mirrored() bool { o := u.orientation; return o == 2 || o == 3 || o == 7 || o == 8 }
func (u *upright) upended() bool  { o := u.orientation; return o == 3 || o == 4 || o == 6 || o == 7 }

func (u *upright) decode(dst []byte, stride int, window image.Rectangle) error {
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
	u.pix = grow(u.pix, 4*r.Dx()*r.Dy())
	if err := u.src.decode(u.pix, 4*r.Dx(), r); err != nil {
		return err
	}

	// Where the result's first pixel is in pix, and the bytes from one pixel and
	// from one row of the result to the next.
	first, right, down := 0, 4, 4*r.Dx()
	if u.mirrored() {
		first, right = first+4*(r.Dx()-1), -right
	}
	if u.upended() {
		first, down = first+4*r.Dx()*(r.Dy()-1), -down
	}
	if u.swaps() {
		right, down = down, right
	}
	for y := range window.Dy() {
		at := first + y*down
		row := dst[y*stride:][:4*window.Dx()]
		for x := 0; x < len(row); x += 4 {
			copy(row[x:x+4], u.pix[at:at+4])
			at += right
		}
	}
	return nil
}
