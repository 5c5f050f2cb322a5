package source

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/codec/bmp"
	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/codec/png"
	"github.com/penstock-go/penstock/internal/codec/pnm"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Mask is a mask in a file. Its numbers are those of numpy.asarray(PIL.Image.open(f)).
type Mask struct {
	W, H   int
	pix    []byte
	Format string
	png    png.Decoder

	// Other files than PNG.
	bits    int           // of a number: 1, 8 or 16; 0 for PNG
	stored  storedDecoder // of TIFF, and of 16 bits
	indexed decoder       // of all others: the red of a pixel is its number
	tiff    tiff.Decoder
	Codecs  []tiff.Codec
	gif     gif.Decoder
	bmp     bmp.Decoder
	pnm     pnm.Decoder
	values  []float32
	colours []byte
}

// Open reads the header of a file. A PNG file is in colour if it holds ids.
func (f *Mask) Open(data []byte, ids bool, limit int) (err error) {
	f.bits = 0
	format := sniff(data)
	if format == nil {
		return unknown(data)
	}
	f.Format = format.name
	if ids && f.Format != "PNG" {
		return fmt.Errorf("a %s file: want PNG", f.Format)
	}
	switch f.Format {
	case "PNG":
		err = f.openPNG(data, ids)
	case "TIFF":
		err = f.openTIFF(data, limit)
	case "GIF":
		err = f.openGIF(data)
	case "BMP":
		err = f.openBMP(data)
	case "PNM":
		err = f.openPNM(data)
	default:
		return fmt.Errorf("a %s file: want PNG, GIF, or TIFF, BMP or PNM with a palette or in grey", f.Format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Format, err)
	}
	return nil
}

func (f *Mask) openPNG(data []byte, ids bool) (err error) {
	if f.W, f.H, err = f.png.Header(data); err != nil {
		return err
	}
	colour, depth := f.png.Colour(), f.png.Depth()
	switch {
	case ids && (colour != png.RGB && colour != png.RGBAlpha || depth != 8):
		return errors.New("not in colour with 8 bits each, as SegmentIDs want it")
	case !ids && colour != png.Grey && colour != png.Palette:
		return errors.New("in colour, want a palette or grey")
	}
	return nil
}

func (f *Mask) openTIFF(data []byte, limit int) (err error) {
	f.tiff.Stored, f.tiff.Codecs, f.tiff.MaxPixels = true, f.Codecs, limit
	if f.W, f.H, err = f.tiff.Header(data); err != nil {
		return err
	}
	f.stored, f.bits = &f.tiff, f.tiff.GreyBits()
	if f.bits == 0 {
		return errors.New("want grey with 8 or 16 bits, where 0 is black")
	}
	return nil
}

func (f *Mask) openGIF(data []byte) (err error) {
	f.gif.Indices = true
	f.stored, f.indexed, f.bits = nil, &f.gif, 8
	f.W, f.H, err = f.gif.Header(data)
	return err
}

func (f *Mask) openBMP(data []byte) (err error) {
	f.bmp.Indices = true
	f.stored, f.indexed, f.bits = nil, &f.bmp, 8
	if f.W, f.H, err = f.bmp.Header(data); err == nil && !f.bmp.HasPalette() {
		err = errors.New("in colour, want a palette or grey")
	}
	return err
}

func (f *Mask) openPNM(data []byte) (err error) {
	if f.W, f.H, err = f.pnm.Header(data); err != nil {
		return err
	}
	f.stored, f.indexed, f.bits = nil, &f.pnm, f.pnm.GreyBits()
	switch f.bits {
	case 0:
		return errors.New("in colour or in floats, want grey")
	case 16:
		f.stored = &f.pnm
	}
	return nil
}

// Size is how many bytes a number takes.
func (f *Mask) Size() int {
	if f.bits > 0 {
		return (f.bits + 7) / 8
	}
	return f.png.NumberBytes()
}

// First decodes the first rows, once after Open.
func (f *Mask) First(rows int) ([]byte, error) {
	f.pix = raster.Grow(f.pix, f.Size()*f.W*rows)
	window := image.Rect(0, 0, f.W, rows)
	var err error
	switch {
	case rows == 0:
	case f.bits == 0:
		err = f.png.DecodeNumbers(f.pix, rows)
	case f.stored != nil:
		err = f.decodeStored(window)
	default:
		err = f.decodeIndexed(window)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Format, err)
	}
	return f.pix, nil
}

// decodeStored writes the numbers of a window.
func (f *Mask) decodeStored(window image.Rectangle) error {
	f.values = raster.GrowFloats(f.values, window.Dx()*window.Dy())
	if err := f.stored.DecodeSamples(f.values, window); err != nil {
		return err
	}
	if f.bits == 16 {
		out := dense.Values[uint16](f.pix)
		for i, v := range f.values {
			out[i] = uint16(v)
		}
		return nil
	}
	for i, v := range f.values {
		f.pix[i] = uint8(uint16(v) >> 8) // the decoder multiplies them by 257
	}
	return nil
}

// decodeIndexed is decodeStored for numbers of up to 8 bits.
func (f *Mask) decodeIndexed(window image.Rectangle) error {
	n := 4 * window.Dx() * window.Dy()
	f.colours = raster.Grow(f.colours, n)
	if err := f.indexed.Decode(f.colours, 4*window.Dx(), window); err != nil {
		return err
	}
	mask := byte(255)
	if f.bits == 1 {
		mask = 1
	}
	for i := range n / 4 {
		f.pix[i] = f.colours[4*i] & mask
	}
	return nil
}
