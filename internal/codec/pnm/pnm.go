// Package pnm decodes the Netpbm formats PBM, PGM and PPM, plain and raw, and
// grey PFM, to the pixels of Pillow's convert("RGB").
//
// Grey samples of more than 8 bits are scaled to the range 0 to 65535, and all above
// 255 become white. Colour samples are scaled to the range 0 to 255. PFM samples are
// limited to that range, and the file's scale is not applied.
package pnm

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"strconv"
)

// A Decoder decodes one file after the other and keeps its memory between
// them. The zero value is ready for use by one goroutine at a time.
type Decoder struct {
	Stop func() error // asked before every row of a plain file

	data   []byte
	w, h   int
	kind   kind
	maxval int
	scan   scanner
	row    []byte // the samples of a row of a plain file
}

// A kind is the format that the file's first two bytes say.
type kind struct {
	bands   int
	bits    bool // black or white
	plain   bool // in decimal digits
	float   bool
	swapped bool // floats with their lowest byte first
}

// longest is the limit of pixels in a row or column.
const longest = 1 << 24

var kinds = map[string]kind{
	"P1": {bands: 1, bits: true, plain: true},
	"P2": {bands: 1, plain: true},
	"P3": {bands: 3, plain: true},
	"P4": {bands: 1, bits: true},
	"P5": {bands: 1},
	"P6": {bands: 3},
	"Pf": {bands: 1, float: true},
}

// Header reads the size of the image in data, a whole file. It checks that the file
// can hold all pixels. The Decoder keeps data until the next call of Header.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data = nil
	if w, h, err = d.header(data); err != nil {
		return 0, 0, fmt.Errorf("pnm: header: %w", err)
	}
	return w, h, nil
}

func (d *Decoder) header(data []byte) (w, h int, err error) {
	if len(data) < 3 || !space(data[2]) {
		return 0, 0, errors.New("no white space after the first two bytes")
	}
	switch k, ok := kinds[string(data[:2])]; {
	case ok:
		d.kind = k
	case string(data[:2]) == "P7":
		return 0, 0, fmt.Errorf("PAM (P7), which penstock does not read: %w", errors.ErrUnsupported)
	case string(data[:2]) == "PF":
		return 0, 0, fmt.Errorf("PFM with colours (PF), which penstock does not read: %w", errors.ErrUnsupported)
	default:
		return 0, 0, fmt.Errorf("unknown format %q", data[:2])
	}
	s := &d.scan
	*s = scanner{data: data, at: 3}
	if w, err = s.number(longest); err != nil {
		return 0, 0, fmt.Errorf("width: %w", err)
	}
	if h, err = s.number(longest); err != nil {
		return 0, 0, fmt.Errorf("height: %w", err)
	}
	if w < 1 || h < 1 {
		return 0, 0, fmt.Errorf("%d×%d pixels", w, h)
	}
	if err := d.samples(s); err != nil {
		return 0, 0, err
	}
	d.w, d.h = w, h
	room := len(data) - s.at
	if d.kind.plain {
		room++ // the last number needs no white space after it
	}
	if h > room/d.rowBytes() {
		return 0, 0, fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, len(data), w, h)
	}
	d.data = data[s.at:]
	return w, h, nil
}

// Memory is how many bytes decoding a window of the file whose header was read takes, beside the window.
func (d *Decoder) Memory(image.Rectangle) int64 {
	if !d.kind.plain {
		return 0
	}
	return 2 * int64(d.w) * int64(d.kind.bands)
}

// samples reads the header's maximum value or scale.
func (d *Decoder) samples(s *scanner) error {
	switch {
	case d.kind.bits:
		d.maxval = 1
	case d.kind.float:
		scale, err := s.float()
		if err != nil {
			return fmt.Errorf("scale: %w", err)
		}
		if scale == 0 || math.IsInf(scale, 0) || math.IsNaN(scale) {
			return fmt.Errorf("scale %v", scale)
		}
		d.kind.swapped = scale < 0
	default:
		v, err := s.number(longest)
		if err != nil {
			return fmt.Errorf("maximum value: %w", err)
		}
		if v < 1 || v > 65535 {
			return fmt.Errorf("maximum value %d, want 1 to 65535", v)
		}
		d.maxval = v
	}
	return nil
}

// value is the 8-bit value of a sample. Source: Pillow's PpmImagePlugin, and its Convert.c for grey samples
// of more than 8 bits.
func (d *Decoder) value(sample int) uint8 {
	switch {
	case sample >= d.maxval:
		return 255
	case d.maxval == 255:
		return uint8(sample)
	}
	most := 255.0
	if d.kind.bands == 1 && d.maxval > 255 {
		most = 65535
	}
	return uint8(min(255, math.RoundToEven(float64(sample)/float64(d.maxval)*most)))
}

// rowBytes is the length of a row. For plain files it is the least possible length.
func (d *Decoder) rowBytes() int {
	n := d.w * d.kind.bands
	switch {
	case d.kind.bits && d.kind.plain:
		return n
	case d.kind.bits:
		return (n + 7) / 8
	case d.kind.plain:
		return 2 * n
	case d.kind.float:
		return 4 * n
	case d.maxval > 255:
		return 2 * n
	}
	return n
}

var (
	errNoHeader = errors.New("pnm: decode: no header has been read")
	errRoom     = errors.New("pnm: decode: destination is too small for the window")
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
		return fmt.Errorf("pnm: decode: window %v exceeds the image's %d×%d", window, d.w, d.h)
	case window.Empty():
		return nil
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	err := d.rows(window, func(y int, row []byte) { d.pixels(dst[y*stride:][:4*window.Dx()], row, window.Min.X) })
	if err != nil {
		return fmt.Errorf("pnm: decode: %w", err)
	}
	return nil
}

// A scanner reads decimal numbers between white space and comments. A comment begins
// with # and ends at the end of the line. As in Pillow, a comment does not end a
// number, and a number has at most 10 digits.
type scanner struct {
	data  []byte
	at    int
	token [10]byte
}

func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// next returns the bytes up to the next white space, which it skips. They are
// valid until the next call.
func (s *scanner) next() ([]byte, error) {
	n := 0
	for s.at < len(s.data) {
		b := s.data[s.at]
		s.at++
		switch {
		case b == '#':
			s.skipComment()
		case !space(b):
			if n == len(s.token) {
				return nil, fmt.Errorf("%q… is too long for a number", s.token[:])
			}
			s.token[n] = b
			n++
		case n > 0:
			return s.token[:n], nil
		}
	}
	if n == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return s.token[:n], nil
}

func (s *scanner) skipComment() {
	if i := bytes.IndexAny(s.data[s.at:], "\r\n"); i >= 0 {
		s.at += i + 1
	} else {
		s.at = len(s.data)
	}
}

// number reads a number of at most limit.
func (s *scanner) number(limit int) (int, error) {
	token, err := s.next()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, b := range token {
		if b < '0' || b > '9' {
			return 0, fmt.Errorf("%q is not a number", token)
		}
		if n = 10*n + int(b-'0'); n > limit {
			return 0, fmt.Errorf("%s is more than %d", token, limit)
		}
	}
	return n, nil
}

func (s *scanner) float() (float64, error) {
	token, err := s.next()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(string(token), 64)
	if err != nil || bytes.ContainsAny(token, "xX_") {
		return math.NaN(), fmt.Errorf("%q is not a number", token)
	}
	return v, nil
}

// bit reads a digit of 0 or 1, which needs no white space around it.
func (s *scanner) bit() (int, error) {
	for s.at < len(s.data) {
		b := s.data[s.at]
		s.at++
		switch {
		case b == '#':
			s.skipComment()
		case b == '0' || b == '1':
			return int(b - '0'), nil
		case !space(b):
			return 0, fmt.Errorf("%q is neither 0 nor 1", b)
		}
	}
	return 0, io.ErrUnexpectedEOF
}
