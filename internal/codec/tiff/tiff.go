// Package tiff decodes the first image of a TIFF or BigTIFF file to the pixels of
// Pillow's convert("RGB"). The image is rotated by the file's orientation, as Pillow
// does for TIFF only.
//
// Alpha is dropped, not blended. Premultiplied samples are divided by it first. Grey
// samples of more than 8 bits are limited to the range 0 to 255, and colour samples
// lose their lower bits. Both orders of bytes, strips, tiles and planes are read.
//
// A file that Pillow refuses is an error, or is read as libtiff reads it, and one that Pillow misreads
// is read as the format says. Other colours than grey, RGB, palettes and YCbCr in JPEG, other
// compressions than those in compression.go, 12 bits per sample, planes in JPEG, and reversed bits
// (FillOrder) other than of a fax are errors that wrap errors.ErrUnsupported.
package tiff

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// DefaultMaxPixels is the limit of a Decoder whose MaxPixels is 0. Pillow has the
// same limit: it refuses images of more than twice its MAX_IMAGE_PIXELS.
const DefaultMaxPixels = 178956970

// A Decoder decodes one file after the other and keeps its memory between
// them. The zero value is ready for use by one goroutine at a time.
//
// Decoding a window reads only the strips or tiles that it touches. They are
// decompressed one at a time.
type Decoder struct {
	// MaxPixels is the limit of width × height of a compressed strip or tile, and with
	// Stored that of its samples. A larger one is an error. 0 means DefaultMaxPixels.
	MaxPixels int
	// Stored asks Header for samples as they are stored, which DecodeSamples returns. It
	// also accepts files that Pillow refuses or misreads, and any number of samples per
	// pixel. See StoredSamples.
	Stored bool
	// Codecs come before the compressions of this package.
	Codecs []Codec

	data    []byte        // the whole file, or nil
	budget  budget.Budget // of the chunks of a window
	stored  storedImage
	palette [256][3]uint8

	compressed []byte // a chunk with its bits reversed
	chunk      []byte // the samples of a chunk, one plane after the other
	row        []byte // the samples of a row, interleaved
	turned     []byte // the pixels of a row before it is rotated

	inflate inflater
	lzw     lzw
	fax     fax
	jpeg    jpeg.Decoder
}

// Header reads data, a whole file, up to its pixels, and returns the size of the
// image after rotation. It checks that all strips or tiles are in the file. Each must
// be long enough to hold its pixels, even with the best ratio of its compression. The
// Decoder keeps data until the next call of Header.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data = nil
	d.stored = storedImage{asStored: d.Stored, codecs: d.Codecs}
	if err := d.header(data); err != nil {
		return 0, 0, fmt.Errorf("tiff: header: %w", err)
	}
	d.data = data
	w, h = d.stored.w, d.stored.h
	if d.stored.orientation >= 5 {
		w, h = h, w
	}
	return w, h, nil
}

func (d *Decoder) header(data []byte) error {
	dir, err := readDirectory(data)
	if err != nil {
		return err
	}
	p := &d.stored
	if err := p.read(&dir); err != nil {
		return err
	}
	if p.kind == indices {
		if err := d.readColours(&dir); err != nil {
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
	errStored   = errors.New("tiff: decode: samples as they are stored are not pixels")
)

// Decode writes the window, which is the whole image or a part of it, with 4 bytes
// per pixel: red, green, blue and 255. dst[0] is the window's top left, and stride
// is the distance in bytes between its rows. Decode may be called again for other
// windows.
//
// A damaged strip or tile is an error if the window touches it. After an error dst is
// only partly written.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if d.data == nil {
		return errNoHeader
	}
	if d.stored.asStored {
		return errStored
	}
	o := orientation(d.stored.orientation)
	w, h := o.size(d.stored.w, d.stored.h)
	switch {
	case !window.In(image.Rect(0, 0, w, h)):
		return fmt.Errorf("tiff: decode: window %v exceeds the image's %d×%d", window, w, h)
	case window.Empty():
		return nil
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	to := o.target(4, stride, window, w, h)
	to.dst = dst
	return d.chunks(&to, nil)
}

// chunks decodes the chunks that the target needs: to samples, if there are any.
func (d *Decoder) chunks(to *target, samples []float32) error {
	p := &d.stored
	d.budget = budget.For(int64(len(d.data)))
	for cy := to.window.Min.Y / p.chunkH; cy*p.chunkH < to.window.Max.Y; cy++ {
		for cx := to.window.Min.X / p.chunkW; cx*p.chunkW < to.window.Max.X; cx++ {
			at, i := image.Pt(cx*p.chunkW, cy*p.chunkH), cy*p.across+cx
			var err error
			if samples == nil {
				err = d.decodeChunk(to, i, at)
			} else {
				err = d.storedChunk(samples, to, i, at)
			}
			if err != nil {
				return fmt.Errorf("tiff: decode: %s at (%d, %d): %w", p.chunkName(), at.X, at.Y, err)
			}
		}
	}
	return nil
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("TIFF with "+format+", which penstock does not read: %w", append(args, errors.ErrUnsupported)...)
}
