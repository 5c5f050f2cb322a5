// Package gif decodes the first frame of a GIF file, GIF87a or GIF89a, to the
// pixels of Pillow's convert("RGB").
//
// A frame that is smaller than the canvas is surrounded by the transparent colour. If
// there is none, it is the palette's first colour. A canvas that is smaller than its
// frame grows. A file without a palette is grey. A file that Pillow refuses is an
// error.
//
// Package image/gif knows none of these rules, and allocates for each file; compress/lzw, which
// reads its codes, reads those of this package, too.
package gif

import (
	"compress/lzw"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/penstock-go/penstock/internal/bulk"
)

// A Decoder decodes one file after the other. The zero value is ready for use by
// one goroutine at a time.
type Decoder struct {
	// Indices makes Decode write the index of each pixel's colour, as its red, green and blue. Set
	// it before Header.
	Indices bool

	Stop func() error // asked before every row that is decoded

	w, h       int
	frame      image.Rectangle
	interlaced bool
	bits       int    // of a pixel in the codes
	code       []byte // the frame's blocks of codes and all that follows, or nil
	colours    [256][3]uint8
	colour     int // how many of them the file has; 0 without a palette
	control    control
	background uint8
	row        []uint8 // of the frame
	blocks     blocks
	lzw        *lzw.Reader
}

var (
	errSignature = errors.New("gif: header: not a GIF file")
	errNoFrame   = errors.New("gif: header: no frame")
	errNoHeader  = errors.New("gif: decode: no header has been read")
	errRoom      = errors.New("gif: decode: destination is too small for the window")
)

// Header reads the size of the image in data, a whole file. The Decoder keeps
// data until the next call.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.code = nil
	if len(data) < 13 {
		return 0, 0, short("screen")
	}
	if v := string(data[:6]); v != "GIF87a" && v != "GIF89a" {
		return 0, 0, errSignature
	}
	d.w, d.h = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	d.grey()
	d.control = control{}
	rest, err := d.palette(data[10], data[13:])
	if err != nil {
		return 0, 0, err
	}
	if rest, err = d.find(rest); err != nil {
		return 0, 0, err
	}
	if err := d.describe(rest); err != nil {
		return 0, 0, err
	}
	return d.w, d.h, nil
}

// grey makes the colours those of a file without a palette.
func (d *Decoder) grey() {
	for i := range d.colours {
		d.colours[i] = [3]uint8{uint8(i), uint8(i), uint8(i)}
	}
	d.colour = 0
}

func short(what string) error {
	return fmt.Errorf("gif: header: %s: %w", what, io.ErrUnexpectedEOF)
}

// palette reads the colour table at the beginning of data, if flags say that there is
// one. Colours beyond it are black. As in Pillow, a table of the greys 0, 1, 2 and so
// on is ignored.
func (d *Decoder) palette(flags byte, data []byte) (rest []byte, err error) {
	if flags&0x80 == 0 {
		return data, nil
	}
	n := 2 << (flags & 7)
	if len(data) < 3*n {
		return nil, short("colour table")
	}
	table := [256][3]uint8{}
	gray := true
	for i := range n {
		table[i] = [3]uint8(data[3*i:])
		gray = gray && table[i] == [3]uint8{uint8(i), uint8(i), uint8(i)}
	}
	if !gray && !d.Indices {
		d.colours, d.colour = table, n
	}
	return data[3*n:], nil
}

// find returns the data from the first frame's descriptor on. Unknown bytes are
// skipped, as in Pillow. Source: GIF89a specification, sections 15 and 23.
func (d *Decoder) find(data []byte) (descriptor []byte, err error) {
	const graphic, comment = 0xf9, 0xfe
	d.background, d.control.transparent = 0, false
	for len(data) > 0 && data[0] != ';' {
		introducer := data[0]
		data = data[1:]
		switch introducer {
		case ',':
			return data, nil
		case '!':
			if len(data) == 0 {
				return nil, short("extension")
			}
			label := data[0]
			var block []byte
			block, data = next(data[1:])
			if label == graphic && len(block) > 0 {
				if block[0]&1 != 0 {
					if len(block) < 4 {
						return nil, short("extension")
					}
					d.background, d.control.transparent = block[3], true
				}
				if how := block[0] >> 2 & 7; how != 0 {
					d.control.disposal = how
				}
			}
			if label == comment && block == nil {
				continue
			}
			for more := true; more; {
				block, data = next(data)
				more = block != nil
			}
		}
	}
	return nil, errNoFrame
}

// A control is what the extensions before a frame say of it. Source: GIF89a specification, section 23.
type control struct {
	transparent bool  // the background is a transparent colour
	disposal    uint8 // what becomes of the frame before the next one; it stays that of the frame before if it is not said, as in Pillow
}

// next is the block at the beginning of data. It is nil for an empty block, which ends
// the sequence.
func next(data []byte) (block, rest []byte) {
	if len(data) == 0 {
		return nil, nil
	}
	n := min(1+int(data[0]), len(data))
	if n == 1 {
		return nil, data[1:]
	}
	return data[1:n], data[n:]
}

// describe reads the frame's descriptor. Source: GIF89a specification, section 20.
func (d *Decoder) describe(data []byte) error {
	if len(data) < 9 {
		return short("frame")
	}
	var v [4]int
	for i := range v {
		v[i] = int(binary.LittleEndian.Uint16(data[2*i:]))
	}
	if v[2] == 0 || v[3] == 0 {
		return fmt.Errorf("gif: header: frame of %d×%d pixels", v[2], v[3])
	}
	d.frame = image.Rect(v[0], v[1], v[0]+v[2], v[1]+v[3])
	d.w, d.h = max(d.w, d.frame.Max.X), max(d.h, d.frame.Max.Y)
	d.interlaced = data[8]&0x40 != 0
	rest, err := d.palette(data[8], data[9:])
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return short("frame")
	}
	if d.bits = int(rest[0]); d.bits < 2 || d.bits > 8 {
		return fmt.Errorf("gif: header: codes of pixels of %d bits", d.bits)
	}
	rest = rest[1:]
	if int64(v[2])*int64(v[3]) > density*int64(len(rest)) {
		return fmt.Errorf("gif: header: %w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(rest), v[2], v[3])
	}
	d.code = rest
	return nil
}

// density is more than the pixels per byte of codes. A code of 12 bits gives at most
// 4096 pixels.
const density = 4096

// Memory is how many bytes decoding a window of the file whose header was read takes, beside tables and the window.
func (d *Decoder) Memory(image.Rectangle) int64 { return int64(d.frame.Dx()) }

// Decode writes a window of the image to dst, 4 bytes per pixel and stride
// bytes per row. It may be called again for other windows.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	switch {
	case d.code == nil:
		return errNoHeader
	case window.Empty():
		return nil
	case !window.In(image.Rect(0, 0, d.w, d.h)):
		return fmt.Errorf("gif: decode: window %v exceeds the image's %d×%d", window, d.w, d.h)
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	if !window.In(d.frame) {
		c := d.colours[d.background]
		for y := range window.Dy() {
			row := dst[y*stride:][:4*window.Dx()]
			for x := 0; x < len(row); x += 4 {
				row[x], row[x+1], row[x+2], row[x+3] = c[0], c[1], c[2], 255
			}
		}
	}
	return d.rows(func(y int, row []uint8) {
		y += d.frame.Min.Y
		if y < window.Min.Y || y >= window.Max.Y {
			return
		}
		from, to := max(d.frame.Min.X, window.Min.X), min(d.frame.Max.X, window.Max.X)
		if from >= to {
			return
		}
		out := dst[(y-window.Min.Y)*stride+4*(from-window.Min.X):][:4*(to-from)]
		for i, v := range row[from-d.frame.Min.X : to-d.frame.Min.X] {
			c := d.colours[v]
			out[4*i], out[4*i+1], out[4*i+2], out[4*i+3] = c[0], c[1], c[2], 255
		}
	})
}

// rows decodes the frame and calls show for every row, in the file's order.
func (d *Decoder) rows(show func(y int, row []uint8)) error {
	w, h := d.frame.Dx(), d.frame.Dy()
	if cap(d.row) < w {
		d.row = make([]uint8, w)
	}
	d.row = d.row[:w]
	d.blocks = blocks{rest: d.code}
	if d.lzw == nil {
		d.lzw = new(lzw.Reader)
	}
	d.lzw.Reset(&d.blocks, lzw.LSB, d.bits)
	for y, pass := 0, 0; y < h; y, pass = d.after(y, pass) { // codes for more pixels are ignored
		if err := d.stopped(); err != nil {
			return fmt.Errorf("gif: decode: %w", err)
		}
		if _, err := io.ReadFull(d.lzw, d.row); err != nil {
			return fmt.Errorf("gif: decode: row %d of %d: %w", y, h, bulk.Unexpected(err))
		}
		show(y, d.row)
	}
	return nil
}

// stopped is the error of Stop.
func (d *Decoder) stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
}

// blocks reads the bytes of blocks. They must be complete. Empty ones are skipped.
type blocks struct{ block, rest []byte }

func (b *blocks) ReadByte() (byte, error) {
	for len(b.block) == 0 {
		if len(b.rest) == 0 || len(b.rest) < 1+int(b.rest[0]) {
			return 0, io.EOF
		}
		n := 1 + int(b.rest[0])
		b.block, b.rest = b.rest[1:n], b.rest[n:]
	}
	v := b.block[0]
	b.block = b.block[1:]
	return v, nil
}

// Read is for [lzw.Reader], which calls ReadByte alone.
func (b *blocks) Read(p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		if p[n], err = b.ReadByte(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// passes are the first row of each pass over an interlaced frame, and the distance of
// its rows. Source: GIF89a specification, section 20 and appendix E.
var passes = [...][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}}

// after returns the row that follows row y, and its pass. After the last row it
// returns a row beyond the frame.
func (d *Decoder) after(y, pass int) (int, int) {
	if !d.interlaced {
		return y + 1, pass
	}
	y += passes[pass][1]
	for y >= d.frame.Dy() && pass+1 < len(passes) {
		pass++
		y = passes[pass][0]
	}
	return y, pass
}
