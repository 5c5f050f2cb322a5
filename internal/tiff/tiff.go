// Package tiff decodes the first image of a TIFF or BigTIFF file to the pixels of
// Pillow's convert("RGB"), turned by the file's orientation, which Pillow does
// only for TIFF.
//
// Alpha is dropped, not blended, and premultiplied samples are divided by it
// first. Gray samples of more than 8 bits are limited to 0 and 255, and colour
// samples lose their lower bits. Both orders of bytes and of bits (FillOrder),
// strips, tiles and planes are read.
//
// What Pillow refuses is an error, or is read as libtiff reads it. What Pillow
// misreads is an error that wraps errors.ErrUnsupported. So are CIE L*a*b* and
// WebP compression, which are not implemented.
package tiff

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/jpeg"
)

// DefaultMaxPixels is the limit of a Decoder whose MaxPixels is 0: twice
// Pillow's MAX_IMAGE_PIXELS, where Pillow refuses an image too.
const DefaultMaxPixels = 178956970

// A Decoder decodes one file after the other and keeps its memory between
// them. The zero value is ready for use by one goroutine at a time.
//
// A window takes the strips and tiles that it touches, and what is compressed
// is decompressed one strip or tile at a time.
type Decoder struct {
	// MaxPixels bounds width × height of a strip or tile that has to be
	// decompressed, beyond which there is an error; 0 means DefaultMaxPixels.
	MaxPixels int

	data    []byte // the whole file, or nil
	picture picture
	palette [256][3]uint8
	bits    [256][32]uint8 // the pixels that 8 indices of a bit stand for

	compressed []byte // a chunk with its bits reversed
	chunk      []byte // the samples of a chunk, of one plane after the other
	row        []byte // the samples of a row, interleaved
	turned     []byte // the pixels of a row that is not to stay one

	inflate inflater
	lzw     lzw
	fax     fax
	zstd    zstdReader
	jpeg    jpeg.Decoder
	ycbcr   ycbcr
}

// Header reads data, a whole file, up to its pixels, and returns the size of the
// image, turned as its orientation says. It checks that all strips or
// tiles lie in the file and are long enough to hold their pixels, if
// compressed as well as their compression can. The Decoder keeps data until the
// next call.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data = nil
	d.picture = picture{}
	if err := d.header(data); err != nil {
		return 0, 0, fmt.Errorf("tiff: header: %w", err)
	}
	d.data = data
	w, h = d.picture.w, d.picture.h
	if d.picture.orientation >= 5 {
		w, h = h, w
	}
	return w, h, nil
}

func (d *Decoder) header(data []byte) error {
	dir, err := readDirectory(data)
	if err != nil {
		return err
	}
	p := &d.picture
	if err := p.read(&dir); err != nil {
		return err
	}
	if p.kind == indices {
		if err := d.readPalette(&dir); err != nil {
			return err
		}
	}
	if p.kind == lumaChroma {
		if err := d.ycbcr.read(&dir); err != nil {
			return err
		}
	}
	limit := d.MaxPixels
	if limit == 0 {
		limit = DefaultMaxPixels
	}
	return p.check(data, limit)
}

var (
	errNoHeader = errors.New("tiff: decode: no header has been read")
	errRoom     = errors.New("tiff: decode: destination is too small for the window")
)

// Decode writes the window of the image, which is the whole one or a part of
// it, as 4 bytes per pixel: red, green, blue and 255. dst[0] is the window's
// top left, and stride the distance in bytes between its rows. It may be called
// again for other windows.
//
// Damage to a strip or tile is an error where the window touches it, and dst is
// then only partly written.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if d.data == nil {
		return errNoHeader
	}
	o := orientation(d.picture.orientation)
	w, h := o.size(d.picture.w, d.picture.h)
	switch {
	case !window.In(image.Rect(0, 0, w, h)):
		return fmt.Errorf("tiff: decode: window %v exceeds the image's %d×%d", window, w, h)
	case window.Empty():
		return nil
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	to := o.target(dst, stride, window, w, h)
	p := &d.picture
	for cy := to.window.Min.Y / p.chunkH; cy*p.chunkH < to.window.Max.Y; cy++ {
		for cx := to.window.Min.X / p.chunkW; cx*p.chunkW < to.window.Max.X; cx++ {
			at := image.Pt(cx*p.chunkW, cy*p.chunkH)
			if err := d.decodeChunk(&to, cy*p.across+cx, at); err != nil {
				return fmt.Errorf("tiff: decode: %s at (%d, %d): %w", p.chunkName(), at.X, at.Y, err)
			}
		}
	}
	return nil
}

// grow returns a slice of n elements, s itself if it has room.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("TIFF with "+format+", which penstock does not read: %w", append(args, errors.ErrUnsupported)...)
}
