package transform

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// An indexPNG reads the numbers of PNG files that hold a number per pixel: palette
// indices, grey values as Pillow has them, or ids of segments in colour. It reads only
// the first rows that are asked for, keeps its memory, and does not look at the palette.
// Source: PNG specification, third edition.
type indexPNG struct {
	data   []byte
	w, h   int
	depth  int // bits per channel
	colour byte
	laced  bool // by Adam7
	row    int  // how many rows have been decoded
	chunks idat
	zlib   io.ReadCloser
	rows   [2][]byte // the filter's byte and the row, and those of the row before it
}

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	pngGrey      = 0
	pngColour    = 2
	pngPalette   = 3
	pngAlpha     = 6
)

// size is how many bytes a number takes: 1, 2 or 4.
func (p *indexPNG) size() int {
	switch {
	case p.colour == pngColour || p.colour == pngAlpha:
		return 4
	case p.depth == 16:
		return 2
	}
	return 1
}

// bits is how many bits a pixel has in the file.
func (p *indexPNG) bits() int {
	switch p.colour {
	case pngColour:
		return 3 * p.depth
	case pngAlpha:
		return 4 * p.depth
	}
	return p.depth
}

// header reads the mask's size. The file is in colour if it holds ids.
func (p *indexPNG) header(data []byte, ids bool) (w, h int, err error) {
	const end = 8 + 8 + 13 + 4 // of the first chunk, IHDR
	switch {
	case !begins(data, pngSignature):
		if f := sniff(formats[:], data); f != nil {
			return 0, 0, fmt.Errorf("a %s file: want PNG%s", f.name, also(ids))
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
	case ids && (p.colour != pngColour && p.colour != pngAlpha || p.depth != 8):
		return 0, 0, errors.New("PNG: not in colour with 8 bits each, as SegmentIDs want it")
	case ids:
	case p.colour != pngGrey && p.colour != pngPalette:
		return 0, 0, errors.New("PNG: in colour, want a palette or grey")
	case p.depth != 1 && p.depth != 2 && p.depth != 4 && p.depth != 8 && (p.depth != 16 || p.colour != pngGrey):
		return 0, 0, fmt.Errorf("PNG: %d bits per pixel", p.depth)
	}
	switch {
	case uint64(wide)*uint64(high) > pngDensity*uint64(len(data)):
		return 0, 0, fmt.Errorf("PNG: %w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(data), wide, high)
	}
	p.data, p.w, p.h, p.row = data, int(wide), int(high), 0
	return p.w, p.h, nil
}

// also lists the formats of masks besides PNG.
func also(ids bool) string {
	if ids {
		return ""
	}
	return ", GIF, or TIFF, BMP or PNM with a palette or in grey"
}

// decode goes on to row rows-1. It writes numbers of that size to dst, which begins with
// the rows decoded before and is aligned for them.
func (p *indexPNG) decode(dst []byte, rows int) error {
	if rows <= p.row {
		return nil
	}
	if p.laced {
		return p.decodeLaced(dst, rows)
	}
	if p.row == 0 {
		if err := p.begin(); err != nil {
			return pngError(err)
		}
	}
	for y := p.row; y < rows; y++ {
		row, before := p.rows[y%2], p.rows[1-y%2]
		if _, err := io.ReadFull(p.zlib, row); err != nil {
			return pngError(err)
		}
		if err := unfilter(row[0], row[1:], before[1:], max(p.bits()/8, 1)); err != nil {
			return err
		}
		n := p.w * p.size()
		p.unpack(dst[y*n:][:n], row[1:])
		p.row++
	}
	return nil
}

// begin prepares for the first row.
func (p *indexPNG) begin() (err error) {
	p.chunks = idat{rest: p.data[8:]}
	if p.zlib == nil {
		p.zlib, err = zlib.NewReader(&p.chunks)
	} else {
		err = p.zlib.(zlib.Resetter).Reset(&p.chunks, nil)
	}
	if err != nil {
		return err
	}
	n := 1 + (p.w*p.bits()+7)/8
	for k := range p.rows {
		p.rows[k] = grow(p.rows[k], n)
	}
	clear(p.rows[1])
	return nil
}

func pngError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("PNG: %w", err)
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
