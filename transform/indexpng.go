package transform

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"

	"github.com/klauspost/compress/zlib"
)

// An indexPNG reads the numbers of PNG files that hold a number per pixel: palette
// indices, or grey values as Pillow has them. It reads only the first rows that are
// asked for, keeps its memory, and does not look at the palette. Source: PNG
// specification, third edition.
type indexPNG struct {
	data   []byte
	w, h   int
	depth  int // bits per pixel
	colour byte
	laced  bool // by Adam7
	chunks idat
	zlib   io.ReadCloser
	rows   [2][]byte // the filter's byte and the row, and those of the row before it
}

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	pngGrey      = 0
	pngPalette   = 3
)

// header reads the mask's size.
func (p *indexPNG) header(data []byte) (w, h int, err error) {
	const end = 8 + 8 + 13 + 4 // of the first chunk, IHDR
	switch {
	case !begins(data, pngSignature):
		if f := sniff(formats[:], data); f != nil {
			return 0, 0, fmt.Errorf("a %s file: want PNG with a palette or in grey", f.name)
		}
		return 0, 0, unknown(data)
	case len(data) < end || binary.BigEndian.Uint32(data[8:]) != 13 || string(data[12:16]) != "IHDR":
		return 0, 0, errors.New("PNG: it does not begin with a header")
	case crc32.ChecksumIEEE(data[12:29]) != binary.BigEndian.Uint32(data[29:]):
		return 0, 0, errors.New("PNG: a checksum is wrong in the header")
	}
	wide, high := binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:])
	p.depth, p.colour, p.laced = int(data[24]), data[25], data[28] == 1
	switch {
	case wide-1 >= 1<<31-1 || high-1 >= 1<<31-1 || data[26] != 0 || data[27] != 0 || data[28] > 1:
		return 0, 0, errors.New("PNG: the header is damaged")
	case p.colour != pngGrey && p.colour != pngPalette:
		return 0, 0, errors.New("PNG: in colour, want a palette or grey")
	case p.colour == pngGrey && p.depth == 16:
		return 0, 0, errors.New("PNG: 16 bits per pixel, want up to 8")
	case p.depth != 1 && p.depth != 2 && p.depth != 4 && p.depth != 8:
		return 0, 0, fmt.Errorf("PNG: %d bits per pixel", p.depth)
	case uint64(wide)*uint64(high) > pngDensity*uint64(len(data)):
		return 0, 0, fmt.Errorf("PNG: %w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(data), wide, high)
	}
	p.data, p.w, p.h = data, int(wide), int(high)
	return p.w, p.h, nil
}

// decode writes the first rows to dst, a byte per pixel.
func (p *indexPNG) decode(dst []byte, rows int) error {
	if rows == 0 {
		return nil
	}
	if p.laced {
		return p.decodeLaced(dst, rows)
	}
	p.chunks = idat{rest: p.data[8:]}
	var err error
	if p.zlib == nil {
		p.zlib, err = zlib.NewReader(&p.chunks)
	} else {
		err = p.zlib.(zlib.Resetter).Reset(&p.chunks, nil)
	}
	if err != nil {
		return pngError(err)
	}
	n := 1 + (p.w*p.depth+7)/8
	for k := range p.rows {
		p.rows[k] = grow(p.rows[k], n)
	}
	clear(p.rows[1])
	for y := range rows {
		row, before := p.rows[y%2], p.rows[1-y%2]
		if _, err := io.ReadFull(p.zlib, row); err != nil {
			return pngError(err)
		}
		if err := unfilter(row[0], row[1:], before[1:]); err != nil {
			return err
		}
		p.unpack(dst[y*p.w:][:p.w], row[1:])
	}
	return nil
}

func pngError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("PNG: %w", err)
}

// unfilter undoes a row's filter. Pixels have at most 8 bits, so the pixel at the
// left is the byte at the left.
func unfilter(filter byte, row, above []byte) error {
	above = above[:len(row)]
	var a, c byte // at the left, and above that
	switch filter {
	case 0:
	case 1:
		for i := range row {
			a += row[i]
			row[i] = a
		}
	case 2:
		for i, b := range above {
			row[i] += b
		}
	case 3:
		for i, b := range above {
			a = row[i] + byte((int(a)+int(b))/2)
			row[i] = a
		}
	case 4:
		for i, b := range above {
			a = row[i] + paeth(a, b, c)
			row[i], c = a, b
		}
	default:
		return fmt.Errorf("PNG: no filter has the number %d", filter)
	}
	return nil
}

// paeth is whichever of left, above and corner is nearest to left + above - corner.
func paeth(left, above, corner byte) byte {
	a, b, c := int(left), int(above), int(corner)
	da, db, dc := abs(b-c), abs(a-c), abs(a+b-2*c)
	switch {
	case da <= db && da <= dc:
		return left
	case db <= dc:
		return above
	}
	return corner
}

func abs(n int) int { return max(n, -n) }

// unpack writes the numbers of a row. Grey values of 2 and 4 bits are spread over
// 0 to 255, and those of 1 bit stay 0 and 1, as in Pillow.
func (p *indexPNG) unpack(dst, row []byte) {
	if p.depth == 8 {
		copy(dst, row)
		return
	}
	mask := byte(1<<p.depth - 1)
	times := byte(1)
	if p.colour == pngGrey && p.depth > 1 {
		times = 255 / mask
	}
	for x := range dst {
		bit := x * p.depth
		dst[x] = row[bit/8] >> (8 - p.depth - bit%8) & mask * times
	}
}

// decodeLaced reads an interlaced file with the standard library.
func (p *indexPNG) decodeLaced(dst []byte, rows int) (err error) {
	defer recovered(&err)
	m, err := png.Decode(bytes.NewReader(p.data))
	if err != nil {
		return err
	}
	for y := range rows {
		out := dst[y*p.w:][:p.w]
		switch m := m.(type) {
		case *image.Paletted:
			copy(out, m.Pix[y*m.Stride:])
		case *image.Gray:
			copy(out, m.Pix[y*m.Stride:])
		default: // grey with a transparent value
			for x := range out {
				out[x] = straight(m.At(x, y))[0]
			}
		}
		if p.colour == pngGrey && p.depth == 1 {
			for x := range out {
				out[x] &= 1
			}
		}
	}
	return nil
}

// idat reads the bytes of a file's image data, which may be in several chunks.
type idat struct {
	rest  []byte // after the chunk
	chunk []byte // what is left of it
	begun bool
}

func (d *idat) next() error {
	for len(d.chunk) == 0 {
		if len(d.rest) < 12 {
			return io.ErrUnexpectedEOF
		}
		n := uint64(binary.BigEndian.Uint32(d.rest))
		if n > uint64(len(d.rest)-12) {
			return io.ErrUnexpectedEOF
		}
		body := d.rest[4 : 8+n]
		switch name := string(body[:4]); {
		case name == "IDAT":
			if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(d.rest[8+n:]) {
				return errors.New("a checksum is wrong in the image data")
			}
			d.chunk, d.begun = body[4:], true
		case d.begun || name == "IEND":
			return io.ErrUnexpectedEOF
		}
		d.rest = d.rest[12+n:]
	}
	return nil
}

// Read implements io.Reader.
func (d *idat) Read(b []byte) (int, error) {
	if err := d.next(); err != nil {
		return 0, err
	}
	n := copy(b, d.chunk)
	d.chunk = d.chunk[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that zlib reads without a buffer.
func (d *idat) ReadByte() (byte, error) {
	if err := d.next(); err != nil {
		return 0, err
	}
	b := d.chunk[0]
	d.chunk = d.chunk[1:]
	return b, nil
}
