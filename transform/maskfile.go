package transform

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/bmp"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/gif"
	"github.com/penstock-go/penstock/internal/pnm"
	"github.com/penstock-go/penstock/internal/tiff"
)

// A maskFile is a mask that is decoded up to the last row that was asked for. Its numbers are
// those of numpy.asarray(PIL.Image.open(f)).
type maskFile struct {
	indexPNG // of PNG files; its w, h and row are those of all files
	pix      []byte

	// Other files than PNG.
	format  string
	bits    int           // of a number: 1, 8 or 16; 0 for PNG
	stored  storedDecoder // of TIFF, and of 16 bits
	indexed decoder       // of all others: the red of a pixel is its number
	tiff    *tiff.Decoder
	gif     *gif.Decoder
	bmp     *bmp.Decoder
	pnm     *pnm.Decoder
	values  []float32
	colours []byte
}

// open reads the header of a file.
func (f *maskFile) open(data []byte, ids bool, limit int) (err error) {
	f.pix, f.bits, f.row = f.pix[:0], 0, 0
	f.format = ""
	if format := sniff(formats[:], data); format != nil && !ids {
		f.format = format.name
	}
	switch f.format {
	case "TIFF":
		err = f.openTIFF(data, limit)
	case "GIF":
		err = f.openGIF(data)
	case "BMP":
		err = f.openBMP(data)
	case "PNM":
		err = f.openPNM(data)
	default:
		_, _, err := f.header(data, ids)
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.format, err)
	}
	return nil
}

func (f *maskFile) openTIFF(data []byte, limit int) (err error) {
	if f.tiff == nil {
		f.tiff = &tiff.Decoder{Stored: true}
	}
	f.tiff.MaxPixels = limit
	if f.w, f.h, err = f.tiff.Header(data); err != nil {
		return err
	}
	f.stored, f.bits = f.tiff, f.tiff.GreyBits()
	if f.bits == 0 {
		return errors.New("want grey with 8 or 16 bits, where 0 is black")
	}
	return nil
}

func (f *maskFile) openGIF(data []byte) (err error) {
	if f.gif == nil {
		f.gif = &gif.Decoder{Indices: true}
	}
	f.stored, f.indexed, f.bits = nil, f.gif, 8
	f.w, f.h, err = f.gif.Header(data)
	return err
}

func (f *maskFile) openBMP(data []byte) (err error) {
	if f.bmp == nil {
		f.bmp = &bmp.Decoder{Indices: true}
	}
	f.stored, f.indexed, f.bits = nil, f.bmp, 8
	if f.w, f.h, err = f.bmp.Header(data); err == nil && !f.bmp.HasPalette() {
		err = errors.New("in colour, want a palette or grey")
	}
	return err
}

func (f *maskFile) openPNM(data []byte) (err error) {
	if f.pnm == nil {
		f.pnm = new(pnm.Decoder)
	}
	if f.w, f.h, err = f.pnm.Header(data); err != nil {
		return err
	}
	f.stored, f.indexed, f.bits = nil, f.pnm, f.pnm.GreyBits()
	switch f.bits {
	case 0:
		return errors.New("in colour or in floats, want grey")
	case 16:
		f.stored = f.pnm
	}
	return nil
}

// size is how many bytes a number takes.
func (f *maskFile) size() int {
	if f.bits > 0 {
		return (f.bits + 7) / 8
	}
	return f.indexPNG.size()
}

// first are the first rows.
func (f *maskFile) first(rows int) ([]byte, error) {
	if n := f.size() * f.w * rows; n > len(f.pix) {
		if n > cap(f.pix) {
			f.pix = append(make([]byte, 0, n+n/4+64), f.pix...)
		}
		f.pix = f.pix[:n]
	}
	switch {
	case f.bits == 0:
		return f.pix, f.decode(f.pix, rows)
	case rows <= f.row:
		return f.pix, nil
	}
	window := image.Rect(0, f.row, f.w, rows)
	decode := f.decodeIndexed
	if f.stored != nil {
		decode = f.decodeStored
	}
	if err := decode(f.size()*f.w*f.row, window); err != nil {
		return nil, fmt.Errorf("%s: %w", f.format, err)
	}
	f.row = rows
	return f.pix, nil
}

// decodeStored writes the numbers of a window, whose bytes begin at from.
func (f *maskFile) decodeStored(from int, window image.Rectangle) error {
	f.values = growFloats(f.values, window.Dx()*window.Dy())
	if err := f.stored.DecodeSamples(f.values, window); err != nil {
		return err
	}
	if f.bits == 16 {
		out := dense.Values[uint16](f.pix)[from/2:]
		for i, v := range f.values {
			out[i] = uint16(v)
		}
		return nil
	}
	out := f.pix[from:]
	for i, v := range f.values {
		out[i] = uint8(uint16(v) >> 8) // the decoder multiplies them by 257
	}
	return nil
}

// decodeIndexed is decodeStored for numbers of up to 8 bits.
func (f *maskFile) decodeIndexed(from int, window image.Rectangle) error {
	n := 4 * window.Dx() * window.Dy()
	f.colours = grow(f.colours, n)
	if err := f.indexed.Decode(f.colours, 4*window.Dx(), window); err != nil {
		return err
	}
	out, mask := f.pix[from:], byte(255)
	if f.bits == 1 {
		mask = 1
	}
	for i := range n / 4 {
		out[i] = f.colours[4*i] & mask
	}
	return nil
}
