// Package bmp decodes Windows and OS/2 bitmaps to the pixels of Pillow's
// convert("RGB"). It reads 1, 4 and 8 bits per pixel with a palette, and 16, 24 and 32 bits,
// also with the masks (BITFIELDS) that Pillow reads. Alpha is dropped, not blended.
//
// A file that Pillow refuses is an error. A file that Pillow misreads is an error that
// wraps errors.ErrUnsupported.
package bmp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
)

// A Decoder decodes one file after the other. The zero value is ready for use by
// one goroutine at a time.
type Decoder struct {
	// Indices makes Decode write the index of each pixel's colour, as its red, green and blue, if
	// the file has a palette. Set it before Header.
	Indices bool

	data    []byte // the whole file, or nil
	w, h    int
	topDown bool
	bits    int
	at      int // offset of the first row
	stride  int
	layout  layout // of 16 bits or more
	palette [256][3]uint8
}

// longest is the limit of pixels in a row or column.
const longest = 1 << 24

// The values of the header's compression field.
const (
	plain     = 0
	bitFields = 3
)

// A header holds fields of the file's header.
type header struct {
	size        int // of the header
	bits        int
	compression uint32
	colours     int
	entry       int // bytes of a palette's entry
	masks       [4]uint32
	end         int // offset of the end of header and masks
}

// Header reads the size of the image in data, a whole file. It checks that the file
// holds all pixels. The Decoder keeps data until the next call of Header.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data = nil
	if err := d.header(data); err != nil {
		return 0, 0, fmt.Errorf("bmp: header: %w", err)
	}
	d.data = data
	return d.w, d.h, nil
}

func (d *Decoder) header(data []byte) error {
	if len(data) < 18 {
		return io.ErrUnexpectedEOF
	}
	if string(data[:2]) != "BM" {
		return fmt.Errorf("the file begins with %q", data[:2])
	}
	h, err := d.info(data)
	if err != nil {
		return err
	}
	if d.w < 1 || d.h < 1 || max(d.w, d.h) > longest {
		return fmt.Errorf("%d×%d pixels", d.w, d.h)
	}
	d.bits = h.bits
	d.stride = (d.w*h.bits + 31) / 32 * 4
	d.at = int(min(binary.LittleEndian.Uint32(data[10:]), 1<<30))
	if h.bits > 8 {
		if d.layout, err = h.layout(); err != nil {
			return err
		}
		if d.at == 0 {
			d.at = h.end
		}
		return d.checkRows(data)
	}
	if err := d.readPalette(data, h); err != nil {
		return err
	}
	return d.checkRows(data)
}

// info reads the header that follows the file's first 14 bytes. Sources: Microsoft's
// documentation of BITMAPCOREHEADER and of BITMAPINFOHEADER to BITMAPV5HEADER, and
// OS/2's headers.
func (d *Decoder) info(data []byte) (h header, err error) {
	size := binary.LittleEndian.Uint32(data[14:])
	switch size {
	case 12, 40, 52, 56, 64, 108, 124:
	default:
		return h, unsupported("header of %d bytes", size)
	}
	h.size = int(size)
	h.end = 14 + h.size
	if len(data) < h.end {
		return h, io.ErrUnexpectedEOF
	}
	b := data[14:h.end]
	if size == 12 {
		d.w = int(binary.LittleEndian.Uint16(b[4:]))
		d.h = int(binary.LittleEndian.Uint16(b[6:]))
		d.topDown = false
		h.bits = int(binary.LittleEndian.Uint16(b[10:]))
		h.entry = 3
	} else {
		d.w = int(int32(binary.LittleEndian.Uint32(b[4:])))
		d.h = int(int32(binary.LittleEndian.Uint32(b[8:])))
		d.topDown = d.h < 0
		d.h = max(d.h, -d.h)
		h.bits = int(binary.LittleEndian.Uint16(b[14:]))
		h.compression = binary.LittleEndian.Uint32(b[16:])
		h.colours = int(min(binary.LittleEndian.Uint32(b[32:]), 1<<30))
		h.entry = 4
	}
	switch h.bits {
	case 1, 4, 8, 16, 24, 32:
	default:
		return h, unsupported("%d bits per pixel", h.bits)
	}
	switch h.compression {
	case plain:
	case bitFields:
		return h, h.readMasks(data)
	case 1, 2:
		return h, unsupported("compression %d (runs, RLE)", h.compression)
	default:
		return h, unsupported("compression %d", h.compression)
	}
	return h, nil
}

// readMasks reads the masks of the colours in a pixel. After a header of 40 bytes
// there are three masks. A longer header contains them.
func (h *header) readMasks(data []byte) error {
	n := 4
	switch {
	case h.bits <= 8:
		return unsupported("compression 3 (masks, or Huffman of OS/2) of %d bits per pixel", h.bits)
	case h.size == 40:
		n = 3
		h.end += 12
	case h.size < 56:
		n = 3
	}
	if len(data) < h.end {
		return io.ErrUnexpectedEOF
	}
	for i := range n {
		h.masks[i] = binary.LittleEndian.Uint32(data[54+4*i:])
	}
	return nil
}

// readPalette reads the palette, and decides where the pixels begin. As in Pillow,
// indices beyond the palette are black, or grey if the palette has only greys.
func (d *Decoder) readPalette(data []byte, h header) error {
	n := h.colours
	if n == 0 {
		n = 1 << h.bits
	}
	if n > 256 {
		return unsupported("palette of %d colours", n)
	}
	end := h.end + n*h.entry
	if d.at == 0 || d.at == h.end { // some writers forget to count the palette
		d.at = end
	}
	d.palette = [256][3]uint8{}
	grays := len(data) >= end
	for i, p := 0, data[h.end:]; i < n && len(p) >= h.entry; i++ {
		d.palette[i] = [3]uint8{p[2], p[1], p[0]}
		want := uint8(i)
		if n == 2 {
			want = uint8(-i) // black and white
		}
		grays = grays && d.palette[i] == [3]uint8{want, want, want}
		p = p[h.entry:]
	}
	for i := n; grays && i < len(d.palette); i++ {
		d.palette[i] = [3]uint8{uint8(i), uint8(i), uint8(i)}
	}
	// For such palettes Pillow reads pixels of 1 bit or 8 bits, and ignores the bits in
	// the header.
	switch {
	case grays && n == 2 && h.bits != 1:
		return unsupported("%d bits per pixel with a palette of black and white", h.bits)
	case grays && n != 2 && h.bits != 8:
		return unsupported("%d bits per pixel with a palette of the greys 0, 1, 2 and so on", h.bits)
	}
	if d.Indices {
		for i := range d.palette {
			d.palette[i] = [3]uint8{uint8(i), uint8(i), uint8(i)}
		}
	}
	return nil
}

// HasPalette reports whether the pixels of the file whose header was read are indices.
func (d *Decoder) HasPalette() bool { return d.data != nil && d.bits <= 8 }

// checkRows checks that the rows are in the file.
func (d *Decoder) checkRows(data []byte) error {
	last := (d.w*d.bits + 7) / 8 // the last row needs no padding
	if room := len(data) - d.at - last; room < 0 || (d.h-1) > room/d.stride {
		return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(data), d.w, d.h)
	}
	return nil
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf(format+" which penstock does not read: %w", append(args, errors.ErrUnsupported)...)
}

var (
	errNoHeader = errors.New("bmp: decode: no header has been read")
	errRoom     = errors.New("bmp: decode: destination is too small for the window")
)

// Decode writes the window, which is the whole image or a part of it, with 4 bytes
// per pixel: red, green, blue and 255. dst[0] is the window's top left, and stride
// is the distance in bytes between its rows. Decode may be called again for other
// windows.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	switch {
	case d.data == nil:
		return errNoHeader
	case !window.In(image.Rect(0, 0, d.w, d.h)):
		return fmt.Errorf("bmp: decode: window %v exceeds the image's %d×%d", window, d.w, d.h)
	case window.Empty():
		return nil
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	for y := window.Min.Y; y < window.Max.Y; y++ {
		from := y
		if !d.topDown {
			from = d.h - 1 - y
		}
		row := dst[(y-window.Min.Y)*stride:][:4*window.Dx()]
		d.row(row, d.data[d.at+from*d.stride:], window.Min.X)
	}
	return nil
}

// A layout is where the colours are in pixels of 16 bits or more. Pixels of 16 bits
// have 5 bits per colour, or 6 for green. Larger pixels have one byte per colour.
type layout struct {
	sixGreen bool
	at       [3]int // which byte is red, green and blue
}

// layout returns the layout of the masks. Masks that Pillow does not read are an
// error.
func (h *header) layout() (layout, error) {
	switch {
	case h.compression == plain:
		return layout{at: [3]int{2, 1, 0}}, nil
	case h.bits == 24 && h.masks == [4]uint32{0xff0000, 0xff00, 0xff, h.masks[3]}:
		return layout{at: [3]int{2, 1, 0}}, nil
	case h.bits == 16 && h.masks == [4]uint32{0x7c00, 0x3e0, 0x1f, h.masks[3]}:
		return layout{}, nil
	case h.bits == 16 && h.masks == [4]uint32{0xf800, 0x7e0, 0x1f, h.masks[3]}:
		return layout{sixGreen: true}, nil
	case h.bits == 32:
		if at, ok := layouts[h.masks]; ok {
			return layout{at: at}, nil
		}
	}
	return layout{}, unsupported("%d bits per pixel with the masks %#x", h.bits, h.masks)
}

// layouts are the bytes of red, green and blue in a pixel of 4 bytes, by the masks of
// red, green, blue and alpha. Source: Pillow's BmpImagePlugin.
var layouts = map[[4]uint32][3]int{
	{0xff0000, 0xff00, 0xff, 0}:          {2, 1, 0},
	{0xff000000, 0xff0000, 0xff00, 0}:    {3, 2, 1},
	{0xff000000, 0xff00, 0xff, 0}:        {3, 1, 0},
	{0xff000000, 0xff0000, 0xff00, 0xff}: {3, 2, 1},
	{0xff, 0xff00, 0xff0000, 0xff000000}: {0, 1, 2},
	{0xff0000, 0xff00, 0xff, 0xff000000}: {2, 1, 0},
	{0xff000000, 0xff00, 0xff, 0xff0000}: {3, 1, 0},
	{}:                                   {2, 1, 0},
}

// row writes len(dst)/4 pixels of a row, from pixel x on.
func (d *Decoder) row(dst, src []byte, x int) {
	switch d.bits {
	case 1:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[x/8]>>(7-x%8)&1])
			x++
		}
	case 4:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[x/2]>>(4-x%2*4)&15])
			x++
		}
	case 8:
		for i, v := range src[x:][:len(dst)/4] {
			put(dst[4*i:], d.palette[v])
		}
	case 16:
		d.row16(dst, src[2*x:])
	case 24:
		src = src[3*x:][:len(dst)/4*3]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], [3]uint8{src[2], src[1], src[0]})
			src = src[3:]
		}
	case 32:
		src = src[4*x:][:len(dst)]
		red, green, blue := d.layout.at[0]&3, d.layout.at[1]&3, d.layout.at[2]&3
		for i := 0; i < len(dst); i += 4 {
			v := src[i : i+4 : i+4]
			put(dst[i:], [3]uint8{v[red], v[green], v[blue]})
		}
	}
}

func (d *Decoder) row16(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		v := uint32(binary.LittleEndian.Uint16(src[i/2:]))
		c := [3]uint8{0, uint8(v >> 5 & 31 * 255 / 31), uint8(v & 31 * 255 / 31)}
		if d.layout.sixGreen {
			c[1] = uint8(v >> 5 & 63 * 255 / 63)
			v >>= 1
		}
		c[0] = uint8(v >> 10 & 31 * 255 / 31)
		put(dst[i:], c)
	}
}

func put(dst []byte, c [3]uint8) {
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}
