package source

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/codec/bmp"
	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/photo"
	"github.com/penstock-go/penstock/internal/codec/pnm"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A decoder reads one file after the other. The size is known before any pixel is
// decoded, and only the window that the steps need is decoded.
type decoder interface {
	// Decode writes a window of the image to dst, 4 bytes per pixel.
	Decode(dst []byte, stride int, window image.Rectangle) error
}

// A header is a decoder of a format of this package.
type header interface {
	decoder
	// Header reads the image's size. It may keep data until its next call.
	Header(data []byte) (w, h int, err error)
}

// Files decodes files of all formats, which it recognises by their first bytes. Its zero value is ready to use.
type Files struct {
	Limit int
	name  string // of the open file's format
	now   decoder
	other registered

	jpeg  jpegDecoder
	photo photoDecoder
	png   pngDecoder
	gif   gif.Decoder
	webp  webp.Decoder
	bmp   bmp.Decoder
	pnm   pnm.Decoder
	tiff  tiff.Decoder

	moving moving // the clip that is open

	shallow []byte // the pixels of 8 bits of an image of Depth16

	most []int64 // by format, and then of registered ones: what the decoder has at most
}

// Take sets the limit of pixels, whether JPEG files may end too early, whether samples are kept as they are stored, the
// field of the images, and what comes before the compressions of this package.
func (f *Files) Take(limit int, cut, stored bool, field string, codecs []tiff.Codec) {
	f.Limit, f.other.field = limit, field
	f.jpeg.AllowTruncated = cut
	f.tiff.Stored, f.tiff.Codecs = stored, codecs
}

// Interrupt makes decoding end between two rows when end returns an error.
func (f *Files) Interrupt(end func() error) {
	f.jpeg.Stop, f.png.Stop, f.gif.Stop, f.pnm.Stop, f.tiff.Stop = end, end, end, end, end
	f.moving.gif.Stop, f.moving.webp.Stop = end, end
}

// deep reports whether values are wanted as they are stored.
func (f *Files) deep() bool { return f.tiff.Stored }

// Memory implements Costly. Of a format that the program has registered it is a guess: 8 bytes per pixel.
func (f *Files) Memory(window image.Rectangle) (all int64) {
	at := slices.IndexFunc(formats[:], func(k format) bool { return k.name == f.name })
	n := int64(0)
	if d, ok := f.now.(Costly); ok {
		n = d.Memory(window)
	}
	if f.now == &f.other {
		at, n = len(formats), 8*int64(f.other.size.X)*int64(f.other.size.Y)
	}
	if f.deep() {
		n += 5*int64(window.Dx())*int64(window.Dy()) + 64
	}
	if f.most == nil {
		f.most = make([]int64, len(formats)+1)
	}
	f.most[at] = max(f.most[at], n)
	for _, n := range f.most {
		all += n
	}
	return all
}

// A format is a file format that files decodes.
type format struct {
	name    string
	magic   []string // the possible first bytes; ? means any byte
	decoder func(f *Files) header
}

var formats = [...]format{
	{"JPEG", []string{"\xff\xd8\xff"}, func(f *Files) header { return &f.jpeg }},
	{"packed photo", []string{photo.Signature}, func(f *Files) header {
		f.photo.JPEG = &f.jpeg.Decoder
		return &f.photo
	}},
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, func(f *Files) header { return &f.png }},
	{"GIF", []string{"GIF87a", "GIF89a"}, func(f *Files) header { return &f.gif }},
	{"WebP", []string{"RIFF????WEBPVP8"}, func(f *Files) header { return &f.webp }},
	{"BMP", []string{"BM"}, func(f *Files) header { return &f.bmp }},
	{"TIFF", []string{"II*\x00", "MM\x00*", "II\x00*", "MM*\x00", "II+\x00", "MM\x00+"}, func(f *Files) header { return &f.tiff }},
	{"PNM", []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "Pf", "PF"}, func(f *Files) header { return &f.pnm }},
}

// An Encoded is an image in some format. If it has parts, only the first bytes are in data, which has room for all.
type Encoded struct {
	Data  []byte
	first int
	parts io.ReaderAt
}

// ReadFile reads a file into data, but of a packed photo only the beginning.
func ReadFile(data []byte, parts io.ReaderAt) (Encoded, error) {
	first := min(len(data), firstBytes)
	err := files.ReadFull(parts, data[:first], 0)
	if err != nil || begins(data[:first], photo.Signature) {
		return Encoded{data, first, parts}, err
	}
	return Encoded{Data: data}, files.ReadFull(parts, data[first:], int64(first))
}

// firstBytes are more than the header of most packed photos has.
const firstBytes = 2 << 10

// Open reads the header of a file and returns the image's size.
func (f *Files) Open(e Encoded) (w, h int, err error) {
	f.jpeg.MaxPixels = math.MaxInt // the limit is checked below
	f.tiff.MaxPixels = f.Limit
	f.photo.first, f.photo.parts = e.first, e.parts
	if format := sniff(e.Data); format != nil {
		d := format.decoder(f)
		f.name, f.now = format.name, d
		w, h, err = d.Header(e.Data)
	} else {
		f.now = &f.other
		if f.name, w, h, err = f.other.config(e.Data); errors.Is(err, image.ErrFormat) {
			return 0, 0, fmt.Errorf("transform: decode: %w", unknown(e.Data))
		}
	}
	switch {
	case err != nil:
		return 0, 0, f.wrap(err)
	case w < 1 || h < 1:
		return 0, 0, fmt.Errorf("transform: decode: %s: %s", f.name, figures.Pixels(w, h))
	case w > f.Limit/h:
		return 0, 0, fmt.Errorf("transform: decode: %s: %s, more than the limit of %d (see MaxPixels)", f.name, figures.Pixels(w, h), f.Limit)
	}
	return w, h, nil
}

func (f *Files) Decode(dst []byte, stride int, window image.Rectangle) error {
	return f.wrap(f.now.Decode(dst, stride, window))
}

func (f *Files) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("transform: decode: %s: %w", f.name, err)
	}
	return nil
}

// Orientation is the Exif orientation of the open file, 1 to 8, or 0 if it has none.
func (f *Files) Orientation() int {
	if d, ok := f.now.(interface{ Orientation() int }); ok {
		return d.Orientation()
	}
	return 0
}

// sniff finds the format of a file, or nil.
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
	first       int // see Encoded
	parts       io.ReaderAt
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

// unread is the error of a file in a format that this package does not read. It is an errors.ErrUnsupported.
type unread struct{ what string }

func (u unread) Error() string { return u.what + ", which penstock does not read" }

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

func (f *Files) Samples() (int, dataset.Dtype, error) {
	if f.now == &f.other {
		n, err := f.other.channels()
		return n, dataset.Uint16, f.wrap(err)
	}
	if d, ok := f.now.(storedDecoder); ok {
		if n, dtype, ok := d.StoredSamples(); ok {
			return n, dtype, nil
		}
	}
	return 3, dataset.Uint16, nil
}

func (f *Files) DecodeValues(dst []float32, window image.Rectangle) error {
	if f.now == &f.other {
		return f.wrap(f.other.decodeSamples(dst, window))
	}
	if d, ok := f.now.(storedDecoder); ok {
		if _, _, ok := d.StoredSamples(); ok {
			return f.wrap(d.DecodeSamples(dst, window))
		}
	}
	w, n := window.Dx(), window.Dx()*window.Dy()
	f.shallow = raster.Grow(f.shallow, 4*n)
	if err := f.Decode(f.shallow, 4*w, window); err != nil {
		return err
	}
	for c := range 3 {
		plane := dst[c*n:][:n]
		for i := range plane {
			plane[i] = float32(257 * int(f.shallow[4*i+c]))
		}
	}
	return nil
}

// others are formats that this package does not decode, with the first bytes of their files. ? means any byte.
var others = [...]struct{ magic, what string }{
	// ISO/IEC 14496-12: a box of any length with the file's type and its brand.
	{"????ftypavif", "AVIF"},
	{"????ftypavis", "AVIF"},
	{"????ftyphe", "HEIC"},
	{"????ftypmif1", "HEIF (HEIC or AVIF)"},
	{"????ftypmsf1", "HEIF (HEIC or AVIF)"},
	{"????ftypjp2 ", "JPEG 2000"},
	{"????ftypjxl ", "JPEG XL"},
	{"????ftyp", "a video (MP4 or QuickTime)"},
	{"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG 2000"},
	{"\xff\x4f\xff\x51", "JPEG 2000"},
	{"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"},
	{"\xff\x0a", "JPEG XL"},
	{"8BPS", "Photoshop (PSD)"},
	{"%PDF", "PDF"},
	{"\x00\x00\x01\x00", "ICO"},
	{"v/1\x01", "OpenEXR"},
	{"qoif", "QOI"},
	{"\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"},
	{"RIFF????AVI ", "a video (AVI)"},
	{"\x93NUMPY", "NumPy"},
	{"PK\x03\x04", "a ZIP archive"},
	{"\x1f\x8b", "a gzip file"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"version https://git-lfs", "a Git LFS pointer (the file itself was not fetched)"},
}

// text names the format of a text file by its beginning, or is "".
func text(data []byte) string {
	head := bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\xef\xbb\xbf"))
	head = bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	begins := func(text string) bool { return bytes.HasPrefix(head, []byte(text)) }
	switch {
	case !begins("<svg") && !begins("<html") && !begins("<?xml") && !begins("<!"):
		return ""
	case has("<svg"), has("doctype svg"):
		return "SVG"
	case has("<html"), has("doctype html"):
		return "a web page (HTML)"
	}
	return "XML"
}
