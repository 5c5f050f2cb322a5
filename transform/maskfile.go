package transform

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/tiff"
)

// A maskFile is a mask that is decoded up to the last row that was asked for: a PNG file, or
// a TIFF file in grey.
type maskFile struct {
	indexPNG
	pix     []byte
	bits    int // of a TIFF file; 0 for PNG
	tiff    *tiff.Decoder
	samples []float32
}

// open reads the header of a file.
func (f *maskFile) open(data []byte, ids bool, limit int) error {
	f.pix, f.bits = f.pix[:0], 0
	if format := sniff(formats[:], data); format == nil || format.name != "TIFF" || ids {
		_, _, err := f.header(data, ids)
		return err
	}
	if f.tiff == nil {
		f.tiff = &tiff.Decoder{Stored: true}
	}
	f.tiff.MaxPixels = limit
	var err error
	if f.w, f.h, err = f.tiff.Header(data); err != nil {
		return fmt.Errorf("TIFF: %w", err)
	}
	f.row = 0
	if f.bits = f.tiff.GreyBits(); f.bits == 0 {
		return errors.New("TIFF: want grey with 8 or 16 bits, where 0 is black")
	}
	return nil
}

// size is how many bytes a number takes.
func (f *maskFile) size() int {
	if f.bits > 0 {
		return f.bits / 8
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
	if f.bits > 0 {
		return f.pix, f.decodeTIFF(rows)
	}
	return f.pix, f.decode(f.pix, rows)
}

// decodeTIFF goes on to row rows-1.
func (f *maskFile) decodeTIFF(rows int) error {
	if rows <= f.row {
		return nil
	}
	n := f.w * (rows - f.row)
	if cap(f.samples) < n {
		f.samples = make([]float32, n)
	}
	samples := f.samples[:n]
	if err := f.tiff.DecodeSamples(samples, image.Rect(0, f.row, f.w, rows)); err != nil {
		return fmt.Errorf("TIFF: %w", err)
	}
	if f.bits == 16 {
		out := dense.Values[uint16](f.pix)[f.row*f.w:]
		for i, v := range samples {
			out[i] = uint16(v)
		}
	} else {
		out := f.pix[f.row*f.w:]
		for i, v := range samples {
			out[i] = uint8(uint16(v) >> 8) // the decoder multiplies them by 257
		}
	}
	f.row = rows
	return nil
}
