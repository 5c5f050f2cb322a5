package transform

import (
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/codec/bmp"
	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/photo"
	"github.com/penstock-go/penstock/internal/codec/pnm"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/figures"
)

// A decoder reads one file after the other. The size is known before any pixel is
// decoded, and only the window that the steps need is decoded.
type decoder interface {
	// Header reads the image's size. It may keep data until its next call.
	Header(data []byte) (w, h int, err error)
	// Decode writes a window of the image to dst, 4 bytes per pixel.
	Decode(dst []byte, stride int, window image.Rectangle) error
}

// files decodes files of all formats, which it recognises by their first bytes.
// Its zero value is ready to use.
type files struct {
	limit  int
	own    []format // come before formats
	format *format
	now    decoder

	jpeg  jpegDecoder
	photo photoDecoder
	png   pngDecoder
	gif   gif.Decoder
	webp  webp.Decoder
	bmp   bmp.Decoder
	pnm   pnm.Decoder
	tiff  tiff.Decoder

	shallow []byte // the pixels of 8 bits of an image of Depth16
}

// A format is a file format that files decodes.
type format struct {
	name    string
	magic   []string // the possible first bytes; ? means any byte
	decoder func(f *files) decoder
}

var formats = [...]format{
	{"JPEG", []string{"\xff\xd8\xff"}, func(f *files) decoder { return &f.jpeg }},
	{"packed photo", []string{photo.Signature}, func(f *files) decoder {
		f.photo.JPEG = &f.jpeg.Decoder
		return &f.photo
	}},
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, func(f *files) decoder { return &f.png }},
	{"GIF", []string{"GIF87a", "GIF89a"}, func(f *files) decoder { return &f.gif }},
	{"WebP", []string{"RIFF????WEBPVP8"}, func(f *files) decoder { return &f.webp }},
	{"BMP", []string{"BM"}, func(f *files) decoder { return &f.bmp }},
	{"TIFF", []string{"II*\x00", "MM\x00*", "II\x00*", "MM*\x00", "II+\x00", "MM\x00+"}, func(f *files) decoder { return &f.tiff }},
	{"PNM", []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "Pf", "PF"}, func(f *files) decoder { return &f.pnm }},
}

// An encodedFile is an image in some format. If it has parts, only the first bytes are
// in data, which has room for all.
type encodedFile struct {
	data  []byte
	first int
	parts dataset.Parts
}

// readFile reads a file into data, but of a packed photo only the beginning.
func readFile(data []byte, parts dataset.Parts) (encodedFile, error) {
	first := min(len(data), firstBytes)
	err := parts.ReadPart(data[:first], 0)
	if err != nil || begins(data[:first], photo.Signature) {
		return encodedFile{data, first, parts}, err
	}
	return encodedFile{data: data}, parts.ReadPart(data[first:], first)
}

// firstBytes are more than the header of most packed photos has.
const firstBytes = 2 << 10

// open reads the header of a file and returns the image's size.
func (f *files) open(e encodedFile) (w, h int, err error) {
	data := e.data
	format := sniff(f.own, data)
	if format == nil {
		format = sniff(formats[:], data)
	}
	if format == nil {
		return 0, 0, fmt.Errorf("transform: decode: %w", unknown(data))
	}
	f.format = format
	f.now = format.decoder(f)
	f.jpeg.MaxPixels = math.MaxInt // the limit is checked below
	f.tiff.MaxPixels = f.limit
	f.photo.first, f.photo.parts = e.first, e.parts
	w, h, err = f.now.Header(data)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("transform: decode: %s: %w", format.name, err)
	case w < 1 || h < 1:
		return 0, 0, fmt.Errorf("transform: decode: %s: %s", format.name, figures.Pixels(w, h))
	case w > f.limit/h:
		return 0, 0, fmt.Errorf("transform: decode: %s: %s, more than the limit of %d (see MaxPixels)", format.name, figures.Pixels(w, h), f.limit)
	}
	return w, h, nil
}

func (f *files) decode(dst []byte, stride int, window image.Rectangle) error {
	return f.wrap(f.now.Decode(dst, stride, window))
}

func (f *files) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("transform: decode: %s: %w", f.format.name, err)
	}
	return nil
}

// orientation is the Exif orientation of the open file, 1 to 8, or 0 if it has none.
func (f *files) orientation() int {
	if d, ok := f.now.(interface{ Orientation() int }); ok {
		return d.Orientation()
	}
	return 0
}

// sniff finds the format of a file.
func sniff(among []format, data []byte) *format {
	for i := range among {
		for _, m := range among[i].magic {
			if begins(data, m) {
				return &among[i]
			}
		}
	}
	return nil
}

func begins(data []byte, magic string) bool {
	if len(data) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && data[i] != magic[i] {
			return false
		}
	}
	return true
}

// A jpegDecoder adds the orientation to jpeg.Decoder.
type jpegDecoder struct {
	jpeg.Decoder
	orientation int
}

func (j *jpegDecoder) Header(data []byte) (w, h int, err error) {
	c, err := j.Decoder.Header(data)
	j.orientation = c.Orientation
	return c.Width, c.Height, err
}

func (j *jpegDecoder) Orientation() int { return j.orientation }

// A photoDecoder adds the orientation to photo.Decoder.
type photoDecoder struct {
	photo.Decoder
	first       int // see encodedFile
	parts       dataset.Parts
	orientation int
}

func (p *photoDecoder) Header(data []byte) (w, h int, err error) {
	if p.parts == nil {
		p.first = len(data)
	}
	c, err := p.Decoder.HeaderOf(data, p.first, p.parts)
	p.orientation = c.Orientation
	return c.Width, c.Height, err
}

func (p *photoDecoder) Orientation() int { return p.orientation }

// unread is the error of a file in a format that this package does not read. It is
// an errors.ErrUnsupported.
type unread struct{ what string }

func (u unread) Error() string        { return u.what + ", which penstock does not read" }
func (u unread) Is(target error) bool { return target == errors.ErrUnsupported }

// unknown is the error of a file in no format that files decodes.
func unknown(data []byte) error {
	if len(data) == 0 {
		return errors.New("the file is empty")
	}
	for _, o := range others {
		if begins(data, o.magic) {
			return unread{o.what}
		}
	}
	if what := text(data); what != "" {
		return unread{what}
	}
	return fmt.Errorf("not a JPEG, PNG, GIF, WebP, BMP, TIFF or PNM file: it begins with %q", data[:min(len(data), 8)])
}
