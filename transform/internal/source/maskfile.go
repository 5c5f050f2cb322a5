package source

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"

	"github.com/penstock-go/penstock/internal/codec/bmp"
	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
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

// A pngDecoder adds the orientation to png.Decoder.
type pngDecoder struct {
	png.Decoder
	data []byte
}

func (p *pngDecoder) Header(data []byte) (w, h int, err error) {
	p.data = data
	return p.Decoder.Header(data)
}

// Orientation is the orientation in the file's Exif or XMP data. These are in the
// chunk eXIf, or in text chunks with the keys that ImageMagick and Adobe use.
func (p *pngDecoder) Orientation() int {
	var info, profile, packet []byte
	for data := p.data[8:]; len(data) >= 12; {
		n, name := int64(binary.BigEndian.Uint32(data)), data[4:8]
		if n > int64(len(data)-12) {
			break
		}
		body := data[8 : 8+n]
		data = data[12+n:]
		switch string(name) {
		case "eXIf":
			info = body
			continue
		case "tEXt", "zTXt", "iTXt":
		default:
			continue
		}
		key, value := pngText(string(name), body)
		switch {
		case key == "exif" && string(name) == "tEXt":
			info = value
		case key == "Raw profile type exif":
			profile = value
		case key == "XML:com.adobe.xmp":
			packet = value
		}
	}
	if info == nil && profile != nil {
		info = rawProfile(profile)
	}
	return jpeg.Orientation(info, packet)
}

// pngText is the key and the value of a text chunk. Both are empty for other
// chunks. Source: PNG specification, third edition, section 11.3.3.
func pngText(name string, body []byte) (key string, value []byte) {
	k, rest, ok := bytes.Cut(body, []byte{0})
	switch {
	case !ok:
		return "", nil
	case name == "tEXt":
		return string(k), rest
	case name == "zTXt" && len(rest) > 0 && rest[0] == 0:
		return string(k), inflated(rest[1:])
	case name != "iTXt" || len(rest) < 2:
		return "", nil
	}
	compressed, method := rest[0] != 0, rest[1]
	parts := bytes.SplitN(rest[2:], []byte{0}, 3) // language, the key in that language, text
	if len(parts) < 3 || compressed && method != 0 {
		return "", nil
	}
	if compressed {
		return string(k), inflated(parts[2])
	}
	return string(k), parts[2]
}

// inflated decompresses a text. It is nil if the text is damaged or longer than Pillow reads.
func inflated(data []byte) []byte {
	const most = 1 << 20
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil || len(text) > most {
		return nil
	}
	return text
}

// rawProfile decodes the hexadecimal digits that follow the first three lines of a profile, or is nil.
func rawProfile(text []byte) []byte {
	lines := strings.SplitN(string(text), "\n", 4)
	if len(lines) < 4 {
		return nil
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(lines[3]), ""))
	if err != nil {
		return nil
	}
	return data
}
