package transform

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/penstock-go/penstock/internal/bmp"
	"github.com/penstock-go/penstock/internal/jpeg"
	"github.com/penstock-go/penstock/internal/pnm"
	"github.com/penstock-go/penstock/internal/tiff"
)

// A decoder reads one file after the other. The size is known before any pixel
// is decoded, and only the window that the steps need is asked for.
type decoder interface {
	// Header reads the picture's size. It may keep data until the next Header.
	Header(data []byte) (w, h int, err error)
	// Decode writes a window of the picture to dst, 4 bytes per pixel.
	Decode(dst []byte, stride int, window image.Rectangle) error
}

// files decodes files of all formats, told apart by their first bytes. Its zero
// value is ready to use.
type files struct {
	limit  int
	format *format
	now    decoder
	jpeg   jpegDecoder
	bmp    bmp.Decoder
	pnm    pnm.Decoder
	tiff   tiff.Decoder
	stream streamDecoder
}

// open begins with a file and returns its size.
func (f *files) open(data []byte) (w, h int, err error) {
	format := sniff(data)
	if format == nil {
		return 0, 0, unknown(data)
	}
	f.format = format
	switch format.name {
	case "JPEG":
		f.jpeg.MaxPixels = f.limit
		f.now = &f.jpeg
	case "BMP":
		f.now = &f.bmp
	case "PNM":
		f.now = &f.pnm
	case "TIFF":
		f.tiff.MaxPixels = f.limit
		f.now = &f.tiff
	default:
		f.stream.format = format
		f.now = &f.stream
	}
	w, h, err = f.now.Header(data)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("transform: decode: %s: %w", format.name, err)
	case w < 1 || h < 1:
		return 0, 0, fmt.Errorf("transform: decode: %s: %d×%d pixels", format.name, w, h)
	case w > f.limit/h:
		return 0, 0, fmt.Errorf("transform: decode: %s: %d×%d pixels, more than the limit of %d (see MaxPixels)", format.name, w, h, f.limit)
	case format.decode != nil && w*h > f.most(data):
		return 0, 0, fmt.Errorf("transform: decode: %s: %w: %d bytes are too few for %d×%d pixels", format.name, io.ErrUnexpectedEOF, len(data), w, h)
	}
	return w, h, nil
}

// most is how many pixels a file can have.
func (f *files) most(data []byte) int {
	n := f.format.density * len(data)
	switch f.format.name {
	case "GIF":
		if fw, fh, ok := gifFrame(data); ok && fw*fh <= n {
			return f.limit // the rest of the picture is background
		}
	case "WebP":
		if lossless(data) {
			return f.limit // codes of one symbol take no bits
		}
	}
	return n
}

func (f *files) decode(dst []byte, stride int, window image.Rectangle) error {
	if err := f.now.Decode(dst, stride, window); err != nil {
		return fmt.Errorf("transform: decode: %s: %w", f.format.name, err)
	}
	return nil
}

// orientation is the open file's by EXIF, 1 to 8, or 0 where there is none.
func (f *files) orientation() int {
	if f.now != &f.jpeg {
		return 0
	}
	return f.jpeg.orientation
}

func unknown(data []byte) error {
	if len(data) == 0 {
		return errors.New("transform: decode: the file is empty")
	}
	return fmt.Errorf("transform: decode: not a JPEG, PNG, GIF, WebP, BMP, TIFF or PNM file: it begins with %q", data[:min(len(data), 8)])
}

// A format is a kind of file.
type format struct {
	name  string
	magic []string // how it begins; ? stands for any byte
	// config and decode are nil for formats with a decoder of their own kind.
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// density is the most pixels that a byte of a file can stand for, rounded up
	// so that no sound file has more, so that a short file cannot ask for more
	// memory than it may fill: 1032 bytes for deflate and 4096 for 12 bits of LZW,
	// with 8 pixels in each but in GIF. A lossy WebP file spends 3 bits or more on
	// the modes of every macroblock of 256 pixels. The project's own decoders see
	// to that themselves.
	density int
}

var formats = [...]format{
	{"JPEG", []string{"\xff\xd8\xff"}, nil, nil, 0},
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, png.Decode, 16384},
	{"GIF", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, gif.Decode, 4096},
	{"WebP", []string{"RIFF????WEBPVP8"}, webp.DecodeConfig, webp.Decode, 1024},
	{"BMP", []string{"BM"}, nil, nil, 0},
	{"TIFF", []string{"II*\x00", "MM\x00*", "II\x00*", "MM*\x00", "II+\x00", "MM\x00+"}, nil, nil, 0},
	{"PNM", []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "Pf", "PF"}, nil, nil, 0},
}

func sniff(data []byte) *format {
	for i := range formats {
		for _, m := range formats[i].magic {
			if begins(data, m) {
				return &formats[i]
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

// A jpegDecoder reads JPEG files, only as far as the window needs them.
type jpegDecoder struct {
	jpeg.Decoder
	orientation int
}

func (j *jpegDecoder) Header(data []byte) (w, h int, err error) {
	c, err := j.Decoder.Header(data)
	j.orientation = c.Orientation
	return c.Width, c.Height, err
}

// A streamDecoder reads a format by a decoder that knows only whole pictures.
type streamDecoder struct {
	format *format
	data   []byte
	reader bytes.Reader
	w, h   int
}

func (s *streamDecoder) Header(data []byte) (w, h int, err error) {
	defer recovered(&err)
	s.data = data
	s.reader.Reset(data)
	c, err := s.format.config(&s.reader)
	s.w, s.h = c.Width, c.Height
	if err == nil && s.format.name == "WebP" {
		err = checkWebP(data, s.w, s.h)
	}
	return c.Width, c.Height, err
}

func (s *streamDecoder) Decode(dst []byte, stride int, window image.Rectangle) (err error) {
	defer recovered(&err)
	s.reader.Reset(s.data)
	img, err := s.format.decode(&s.reader)
	if err != nil {
		return err
	}
	switch s.format.name {
	case "GIF":
		return decodeFrame(dst, stride, window, img, s.data)
	case "WebP":
		img = fromWebP(img)
	}
	if frame := img.Bounds(); frame.Dx() != s.w || frame.Dy() != s.h {
		return fmt.Errorf("%d×%d pixels, but the header says %d×%d", frame.Dx(), frame.Dy(), s.w, s.h)
	}
	convert(dst, stride, img, window.Add(img.Bounds().Min))
	return nil
}

// recovered turns a decoder's panic over a damaged file into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the decoder gave up: %v", p)
	}
}
