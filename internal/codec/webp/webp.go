// Package webp decodes WebP files, lossy and lossless, and animations, to the pixels of
// Pillow's convert("RGB").
//
// A frame that is smaller than the canvas is surrounded by black. Alpha is dropped: only
// frames of an animation are blended with those before them, and of a still image its data are not
// checked. A file that libwebp refuses is an error.
// golang.org/x/image decodes the bitstreams. It takes at most 2600 groups of Huffman codes from a lossless
// file, of which each may take 16 bytes of the file and some 25 KB of memory, one after the other.
package webp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A Decoder decodes one file after the other, of an animation the first frame. The zero value is ready
// for use by one goroutine at a time.
type Decoder struct {
	file   file
	reader bytes.Reader
	chroma [2][]uint8 // rows of Cb and Cr at full resolution
}

var (
	errNoHeader = errors.New("webp: decode: no header has been read")
	errRoom     = errors.New("webp: decode: destination is too small for the window")
)

// Header reads the size of the image in data, a whole file. The Decoder keeps
// data until the next call.
//
// A lossy file that is too short for its pixels is an error. A lossless file can hold
// any number of equal pixels in a few bytes.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.file.forget()
	if err = d.file.parse(data); err == nil {
		err = d.file.frames[0].dense()
	}
	if err != nil {
		d.file.forget()
		return 0, 0, fmt.Errorf("webp: header: %w", err)
	}
	return d.file.w, d.file.h, nil
}

// dense is the error of a lossy frame that is too short for its pixels.
func (f *frame) dense() error {
	if w, h := f.at.Dx(), f.at.Dy(); f.lossy && int64(w)*int64(h) > density*int64(len(f.stream)) {
		return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(f.stream), w, h)
	}
	return nil
}

// density is more than the pixels per byte of a lossy file. The modes of a macroblock
// of 256 pixels take at least 3 bits.
const density = 1024

// Memory is how many bytes decoding a window of the file whose header was read takes at most, beside the window.
func (d *Decoder) Memory(image.Rectangle) int64 { return d.file.frames[0].memory() }

func (f *frame) memory() int64 {
	w, h, n := int64(f.at.Dx()), int64(f.at.Dy()), int64(len(f.stream))
	if f.lossy {
		w, h = (w+15)&^15, (h+15)&^15
		return w*h*3/2 + w*h/16 + 2*w + 2*n // samples, filters, rows of chroma, partitions
	}
	return lossless(w, h, n)
}

// lossless is how many bytes decoding a lossless image of n bytes takes.
func lossless(w, h, n int64) int64 {
	const groups, group = 2600, 25 << 10 // of Huffman codes: see the comment of the package
	return 10*w*h + group*min(groups, n/16+1)
}

// Orientation is the orientation in the file's Exif or XMP data, 1 to 8, or 0 if there
// is none. Decode does not apply it.
func (d *Decoder) Orientation() int { return jpeg.Orientation(d.file.exif, d.file.xmp) }

// Decode writes a window of the image to dst, 4 bytes per pixel and stride
// bytes per row. It may be called again for other windows.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if err := d.fits(dst, stride, window); err != nil || window.Empty() {
		return err
	}
	if err := d.draw(dst, stride, window); err != nil {
		return fmt.Errorf("webp: decode: %w", err)
	}
	return nil
}

// draw is Decode of a window that fits.
func (d *Decoder) draw(dst []byte, stride int, window image.Rectangle) (err error) {
	defer damaged(&err)
	f := &d.file.frames[0]
	if !window.In(f.at) {
		for y := range window.Dy() {
			row := dst[y*stride:][:4*window.Dx()]
			for x := 0; x < len(row); x += 4 {
				row[x], row[x+1], row[x+2], row[x+3] = 0, 0, 0, 255
			}
		}
	}
	row, err := d.decode(f)
	if err != nil {
		return err
	}
	shown := window.Intersect(f.at)
	for y := shown.Min.Y; y < shown.Max.Y; y++ {
		at := (y-window.Min.Y)*stride + 4*(shown.Min.X-window.Min.X)
		row(dst[at:][:4*shown.Dx()], shown.Min.X-f.at.Min.X, y-f.at.Min.Y)
	}
	return nil
}

// fits is the error of a destination or window that does not go with the file whose header was read.
func (d *Decoder) fits(dst []byte, stride int, window image.Rectangle) error {
	f := &d.file
	switch {
	case len(f.frames) == 0:
		return errNoHeader
	case window.Empty():
	case !window.In(image.Rect(0, 0, f.w, f.h)):
		return fmt.Errorf("webp: decode: window %v exceeds the image's %d×%d", window, f.w, f.h)
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	return nil
}

// damaged makes the panic of a decoder the error of a damaged file. It is deferred.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}

// decode reads a frame. It returns a function that writes the pixels of a row, from
// (x, y) of the frame on.
func (d *Decoder) decode(f *frame) (row func(dst []byte, x, y int), err error) {
	d.reader.Reset(f.stream)
	if !f.lossy {
		m, err := vp8l.Decode(&d.reader)
		if err != nil {
			return nil, err
		}
		pixels := m.(*image.NRGBA)
		return func(dst []byte, x, y int) { copy(dst, pixels.Pix[pixels.PixOffset(x, y):]) }, nil
	}
	v := vp8.NewDecoder() // a used one would keep filters of the last file
	v.Init(&d.reader, len(f.stream))
	if _, err := v.DecodeFrameHeader(); err != nil {
		return nil, err
	}
	m, err := v.DecodeFrame()
	if err != nil {
		return nil, err
	}
	return func(dst []byte, x, y int) { d.rowOf(dst, m, x, y) }, nil
}

// rowOf writes a row of a lossy frame, from (x, y) on, as libwebp does. Chroma is
// interpolated from the four nearest samples. The conversion is ITU-R BT.601 in video
// range, with 14 bits of fraction. image.YCbCr uses the full range instead.
func (d *Decoder) rowOf(dst []byte, m *image.YCbCr, x, y int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	near := y / 2
	far := min(max(near+y%2*2-1, 0), (h+1)/2-1)
	for i, plane := range [2][]uint8{m.Cb, m.Cr} {
		d.chroma[i] = grown(d.chroma[i], w+1)
		n := (w + 1) / 2
		upsample(d.chroma[i], plane[near*m.CStride:][:n], plane[far*m.CStride:][:n])
	}
	luma := m.Y[y*m.YStride+x:][:len(dst)/4]
	cb, cr := d.chroma[0][x:][:len(luma)], d.chroma[1][x:][:len(luma)]
	for i, v := range luma {
		l, b, r := int(v)*19077>>8, int(cb[i]), int(cr[i])
		dst[4*i] = sixth(l + r*26149>>8 - 14234)
		dst[4*i+1] = sixth(l - b*6419>>8 - r*13320>>8 + 8708)
		dst[4*i+2] = sixth(l + b*33050>>8 - 17685)
		dst[4*i+3] = 255
	}
}

// upsample makes a row of chroma from the nearest row of samples and the one next to
// it, and doubles its length. The weights are 9:3:3:1, rounded in two steps.
func upsample(out, near, far []uint8) {
	n := len(near)
	far = far[:n]
	out[0] = edge(near[0], far[0])
	for i := 1; i < n; i++ {
		a, b, c, e := int(near[i-1]), int(near[i]), int(far[i-1]), int(far[i])
		sum := a + b + c + e + 8
		out[2*i-1] = uint8(((sum+2*(b+c))>>3 + a) >> 1)
		out[2*i] = uint8(((sum+2*(a+e))>>3 + b) >> 1)
	}
	if 2*n-1 < len(out) {
		out[2*n-1] = edge(near[n-1], far[n-1])
	}
}

func edge(near, far uint8) uint8 { return uint8((3*int(near) + int(far) + 2) >> 2) }

// sixth drops 6 bits of fraction.
func sixth(v int) uint8 { return uint8(min(max(v>>6, 0), 255)) }
