// Package png decodes PNG files to the pixels of Pillow's convert("RGB"), to samples of 16 bits,
// or to the numbers of a mask. It decodes only the rows that are needed, and keeps its memory
// from file to file. Source: PNG specification, third edition.
//
// What [image/png.Decode] accepts is accepted, with the same values. Other files are errors, but
// for these: checksums and order of the chunks after the image data, the length of IEND, bytes after
// the end of the compressed stream, and image data of rows that are not needed are not checked.
package png

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"math"
	"strconv"

	"github.com/penstock-go/penstock/internal/inflate"
)

// Signature is the first bytes of a file.
const Signature = "\x89PNG\r\n\x1a\n"

// A Colour is the header's colour type.
type Colour uint8

// The colour types.
const (
	Grey      Colour = 0
	RGB       Colour = 2
	Palette   Colour = 3
	GreyAlpha Colour = 4
	RGBAlpha  Colour = 6
)

// channels are the samples per pixel in the file.
func (c Colour) channels() int {
	switch c {
	case RGB:
		return 3
	case GreyAlpha:
		return 2
	case RGBAlpha:
		return 4
	}
	return 1
}

// A Decoder decodes one file after the other. The zero value is ready for use by one goroutine
// at a time.
type Decoder struct {
	Stop func() error // asked before every row that is decoded

	data    []byte // from the first chunk of image data on, or nil
	w, h    int
	depth   int // bits per sample
	colour  Colour
	laced   bool // by Adam7
	palette [256][3]uint8

	chunks idat
	buffer *bufio.Reader // over chunks
	zlib   *inflate.Reader
	rows   [2][]byte // the filter's byte and the row, and those of the row before it
	line   []byte    // of an interlaced image: one converted row of a pass
	done   int       // how many rows DecodeNumbers has decoded; -1: others have moved the stream
}

// Header reads the size of the image in data, a whole file, and checks that the file is whole. The
// Decoder keeps data until the next call.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data, d.done = nil, -1
	if err := d.header(data); err != nil {
		return 0, 0, fmt.Errorf("png: %w", err)
	}
	return d.w, d.h, nil
}

// Memory is how many bytes decoding a window of the file whose header was read takes, beside tables and the window.
func (d *Decoder) Memory(image.Rectangle) int64 {
	n := 2 * int64(d.rowBytes(d.w))
	if d.laced {
		n += 4 * int64(d.w)
	}
	return n + n/4
}

// Depth is the bits per sample of the file whose header was read.
func (d *Decoder) Depth() int { return d.depth }

// Colour is the colour type of the file whose header was read.
func (d *Decoder) Colour() Colour { return d.colour }

var (
	errOrder    = errors.New("a chunk is out of order")
	errChecksum = errors.New("a checksum is wrong")
)

func (d *Decoder) header(data []byte) error {
	if len(data) < len(Signature) || string(data[:len(Signature)]) != Signature {
		return errors.New("it does not begin with the signature")
	}
	rest := data[len(Signature):]
	var shaped, colours, transparent bool // what has been read
	for {
		at := len(data) - len(rest)
		c, next, err := chunkOf(rest)
		switch name := string(c.name); {
		case err != nil:
			return cut(err, at)
		case name == "IHDR" && shaped, !shaped && (name == "PLTE" || name == "tRNS" || name == "IDAT"):
			return errOrder
		case name == "IDAT" && d.colour == Palette && !colours:
			return errors.New("there is no palette")
		case name == "IDAT":
			if at, err := whole(rest); err != nil {
				return cut(err, len(data)-at)
			}
			d.data = rest
			return nil
		case !c.intact():
			return fmt.Errorf("%w: that of the chunk %q at byte %d", errChecksum, c.name, at)
		case name == "IHDR":
			shaped = true
			err = d.shape(c.body, len(data))
		case name == "PLTE":
			if colours || transparent {
				return errOrder
			}
			colours = true
			err = d.colours(c.body)
		case name == "tRNS":
			if transparent || d.colour == Palette && !colours {
				return errOrder
			}
			transparent = true
			err = d.transparency(c.body)
		case name == "IEND":
			return errOrder
		}
		if err != nil {
			return err
		}
		rest = next
	}
}

// A chunk is a part of a file.
type chunk struct {
	name, body []byte
	sum        uint32
}

// chunkOf is the chunk at the beginning of data, and what follows it.
func chunkOf(data []byte) (c chunk, rest []byte, err error) {
	if len(data) < 12 {
		return chunk{}, nil, io.ErrUnexpectedEOF
	}
	n := uint64(binary.BigEndian.Uint32(data))
	if n > uint64(len(data)-12) {
		return chunk{}, nil, io.ErrUnexpectedEOF
	}
	return chunk{data[4:8], data[8 : 8+n], binary.BigEndian.Uint32(data[8+n:])}, data[12+n:], nil
}

// intact reports whether the checksum is that of the name and the body.
func (c chunk) intact() bool {
	return crc32.Update(crc32.ChecksumIEEE(c.name), crc32.IEEETable, c.body) == c.sum
}

// whole checks that the chunks go on to the last one. With an error, so many bytes are left.
func whole(rest []byte) (left int, err error) {
	for {
		c, next, err := chunkOf(rest)
		if err != nil || string(c.name) == "IEND" {
			return len(rest), err
		}
		rest = next
	}
}

// cut is the error of a file that ends before the end of the chunk at that byte.
func cut(err error, at int) error {
	return fmt.Errorf("%w: there is no whole chunk at byte %d", err, at)
}

// shape reads the chunk IHDR of a file of so many bytes.
func (d *Decoder) shape(b []byte, size int) error {
	if len(b) != 13 {
		return errors.New("the chunk IHDR has another length than 13")
	}
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	d.depth, d.colour, d.laced = int(b[8]), Colour(b[9]), b[12] == 1
	switch {
	case w-1 >= 1<<31-1 || h-1 >= 1<<31-1:
		return fmt.Errorf("%d×%d pixels, but a side has 1 to %d", w, h, math.MaxInt32)
	case b[10] != 0 || b[11] != 0 || b[12] > 1:
		return errors.New("unknown methods of compression, filtering or interlacing")
	case !d.known():
		return fmt.Errorf("%d bits per sample with colour type %d", d.depth, d.colour)
	case 1+uint64(w)*uint64(d.bits())/8 > densest*uint64(size)/uint64(h):
		return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, size, w, h)
	case uint64(w)*max(4, uint64(d.bits())/8) > math.MaxInt/2:
		return fmt.Errorf("rows of %d pixels are too long for an int of %d bits", w, strconv.IntSize)
	}
	d.w, d.h = int(w), int(h)
	return nil
}

// densest is the most bytes to which Deflate decompresses one.
const densest = 1032

// known reports whether the colour type goes with the depth.
func (d *Decoder) known() bool {
	switch d.depth {
	case 1, 2, 4:
		return d.colour == Grey || d.colour == Palette
	case 8:
		return d.colour <= 6 && d.colour != 1 && d.colour != 5
	case 16:
		return d.colour <= 6 && d.colour != 1 && d.colour != 5 && d.colour != Palette
	}
	return false
}

// bits are those of a pixel.
func (d *Decoder) bits() int { return d.depth * d.colour.channels() }

// colours reads the chunk PLTE. Colours beyond it are black, as in libpng.
func (d *Decoder) colours(b []byte) error {
	n := len(b) / 3
	if len(b)%3 != 0 || n < 1 || n > 256 || n > 1<<d.depth {
		return fmt.Errorf("a palette of %d bytes", len(b))
	}
	if d.colour == Grey || d.colour == GreyAlpha {
		return errors.New("a palette of a grey image")
	}
	d.palette = [256][3]uint8{}
	for i := range n {
		d.palette[i] = [3]uint8(b[3*i:])
	}
	return nil
}

// transparency checks the chunk tRNS, which changes no colour.
func (d *Decoder) transparency(b []byte) error {
	if n := len(b); d.colour == Grey && n == 2 || d.colour == RGB && n == 6 || d.colour == Palette && n <= 256 {
		return nil
	}
	return errors.New("transparency that does not go with the colour type")
}

var (
	errNoHeader = errors.New("png: decode: no header has been read")
	errRoom     = errors.New("png: decode: destination is too small for the window")
)

func (d *Decoder) check(window image.Rectangle) error {
	if d.data == nil {
		return errNoHeader
	}
	if !window.In(image.Rect(0, 0, d.w, d.h)) {
		return fmt.Errorf("png: decode: window %v exceeds the image's %d×%d", window, d.w, d.h)
	}
	return nil
}

// A pass is one of the images of which an interlaced image consists: the pixels from (x, y) on,
// dx and dy apart.
type pass struct{ x, y, dx, dy int }

var (
	straight = []pass{{0, 0, 1, 1}}
	adam7    = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
)

// passes are those of the image.
func (d *Decoder) passes() []pass {
	if d.laced {
		return adam7
	}
	return straight
}

// decode calls show for the rows of all passes that lie above row last: row holds the pixels of
// row y from column p.x on, p.dx apart.
func (d *Decoder) decode(last int, show func(row []byte, y int, p pass)) error {
	if err := d.begin(); err != nil {
		return decodeError(err)
	}
	return d.goOn(0, last, show)
}

// goOn is decode from row first on, if the image is not interlaced.
func (d *Decoder) goOn(first, last int, show func(row []byte, y int, p pass)) error {
	passes := d.passes()
	for i, p := range passes {
		w := (d.w - p.x + p.dx - 1) / p.dx
		if w == 0 {
			continue
		}
		end := d.h
		if i == len(passes)-1 {
			end = last
		}
		n := d.rowBytes(w)
		if first == 0 {
			clear(d.rows[0][:n])
		}
		for y := first + p.y; y < end; y += p.dy {
			if err := d.stopped(); err != nil {
				return decodeError(err)
			}
			row := d.rows[1][:n]
			if _, err := io.ReadFull(d.zlib, row); err != nil {
				return decodeError(err)
			}
			if err := unfilter(row[0], row[1:], d.rows[0][1:n], (d.bits()+7)/8); err != nil {
				return decodeError(err)
			}
			show(row[1:], y, p)
			d.rows[0], d.rows[1] = d.rows[1], d.rows[0]
		}
	}
	if last == d.h {
		return d.end()
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

// end checks that the stream ends with the last row, and its checksum.
func (d *Decoder) end() error {
	switch n, err := io.ReadFull(d.zlib, d.rows[1][:1]); {
	case n > 0:
		return errors.New("png: decode: there is more image data than pixels")
	case err != io.EOF:
		return decodeError(err)
	}
	return nil
}

func decodeError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("png: decode: %w", err)
}

// begin prepares for the first row.
func (d *Decoder) begin() error {
	d.chunks = idat{rest: d.data}
	if d.buffer == nil {
		d.buffer = bufio.NewReaderSize(&d.chunks, 1<<14)
	} else {
		d.buffer.Reset(&d.chunks)
	}
	if d.zlib == nil {
		d.zlib = new(inflate.Reader)
	}
	if err := d.zlib.ResetZlib(d.buffer); err != nil {
		return err
	}
	for k := range d.rows {
		d.rows[k] = grow(d.rows[k], d.rowBytes(d.w))
	}
	return nil
}

// rowBytes are those of a row of w pixels in the stream, with the filter's. The bits of a row may be too
// many for an int of 32 bits.
func (d *Decoder) rowBytes(w int) int { return int(1 + (uint64(w)*uint64(d.bits())+7)/8) }

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4)
	}
	return b[:n]
}

// idat reads the bytes of a file's image data, which may be in several chunks.
type idat struct {
	rest []byte // after the chunk
	left []byte // of the chunk
}

// Read implements io.Reader.
func (d *idat) Read(b []byte) (int, error) {
	for len(d.left) == 0 {
		c, rest, err := chunkOf(d.rest)
		switch {
		case err != nil:
			return 0, err
		case string(c.name) != "IDAT":
			return 0, io.EOF
		case !c.intact():
			return 0, fmt.Errorf("%w: that of a chunk of image data", errChecksum)
		}
		d.left, d.rest = c.body, rest
	}
	n := copy(b, d.left)
	d.left = d.left[n:]
	return n, nil
}
