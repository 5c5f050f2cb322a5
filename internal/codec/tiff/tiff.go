// Package tiff decodes the first image of a TIFF or BigTIFF file to the pixels of
// Pillow's convert("RGB"). The image is rotated by the file's orientation, as Pillow
// does for TIFF only.
//
// Alpha is dropped, not blended. Premultiplied samples are divided by it first. Grey
// samples of more than 8 bits are limited to the range 0 to 255, and colour samples
// lose their lower bits. Both orders of bytes, strips, tiles and planes are read.
//
// A file that Pillow refuses is an error, or is read as libtiff reads it, and one that Pillow misreads
// is read as the format says. Other colours than grey, RGB, palettes and YCbCr in JPEG, other
// compressions than those in compression.go, 12 bits per sample, planes in JPEG, and reversed bits
// (FillOrder) other than of a fax are errors that wrap errors.ErrUnsupported.
package tiff

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// DefaultMaxPixels is the limit of a Decoder whose MaxPixels is 0. Pillow has the
// same limit: it refuses images of more than twice its MAX_IMAGE_PIXELS.
const DefaultMaxPixels = 178956970

// A Decoder decodes one file after the other and keeps its memory between
// them. The zero value is ready for use by one goroutine at a time.
//
// Decoding a window reads only the strips or tiles that it touches. They are
// decompressed one at a time.
type Decoder struct {
	// MaxPixels is the limit of width × height of a compressed strip or tile, and with
	// Stored that of its samples. A larger one is an error. 0 means DefaultMaxPixels.
	MaxPixels int
	// Stored asks Header for samples as they are stored, which DecodeSamples returns. It
	// also accepts files that Pillow refuses or misreads, and any number of samples per
	// pixel. See StoredSamples.
	Stored bool
	// Codecs come before the compressions of this package.
	Codecs []Codec

	Stop func() error // asked before every strip or tile, and between the rows of those that are JPEG files

	data    []byte        // the whole file, or nil
	budget  budget.Budget // of the chunks of a window
	stored  storedImage
	palette [256][3]uint8

	compressed []byte // a chunk with its bits reversed
	chunk      []byte // the samples of a chunk, one plane after the other
	row        []byte // the samples of a row, interleaved
	turned     []byte // the pixels of a row before it is rotated

	inflate inflater
	lzw     lzw
	fax     fax
	jpeg    jpeg.Decoder
}

// Header reads data, a whole file, up to its pixels, and returns the size of the
// image after rotation. It checks that all strips or tiles are in the file. Each must
// be long enough to hold its pixels, even with the best ratio of its compression. The
// Decoder keeps data until the next call of Header.
func (d *Decoder) Header(data []byte) (w, h int, err error) {
	d.data = nil
	d.stored = storedImage{asStored: d.Stored, codecs: d.Codecs}
	if err := d.header(data); err != nil {
		return 0, 0, fmt.Errorf("tiff: header: %w", err)
	}
	d.data = data
	w, h = d.stored.w, d.stored.h
	if d.stored.orientation >= 5 {
		w, h = h, w
	}
	return w, h, nil
}

func (d *Decoder) header(data []byte) error {
	dir, err := readDirectory(data)
	if err != nil {
		return err
	}
	p := &d.stored
	if err := p.read(&dir); err != nil {
		return err
	}
	if p.kind == indices {
		if err := d.readColours(&dir); err != nil {
			return err
		}
	}
	limit := d.MaxPixels
	if limit == 0 {
		limit = DefaultMaxPixels
	}
	return p.check(data, limit)
}

var (
	errNoHeader = errors.New("tiff: decode: no header has been read")
	errRoom     = errors.New("tiff: decode: destination is too small for the window")
	errStored   = errors.New("tiff: decode: samples as they are stored are not pixels")
)

// Decode writes the window, which is the whole image or a part of it, with 4 bytes
// per pixel: red, green, blue and 255. dst[0] is the window's top left, and stride
// is the distance in bytes between its rows. Decode may be called again for other
// windows.
//
// A damaged strip or tile is an error if the window touches it. After an error dst is
// only partly written.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if d.data == nil {
		return errNoHeader
	}
	if d.stored.asStored {
		return errStored
	}
	o := orientation(d.stored.orientation)
	w, h := o.size(d.stored.w, d.stored.h)
	switch {
	case !window.In(image.Rect(0, 0, w, h)):
		return fmt.Errorf("tiff: decode: window %v exceeds the image's %d×%d", window, w, h)
	case window.Empty():
		return nil
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	to := o.target(4, stride, window, w, h)
	to.dst = dst
	return d.chunks(&to, nil)
}

// chunks decodes the chunks that the target needs: to samples, if there are any.
func (d *Decoder) chunks(to *target, samples []float32) error {
	p := &d.stored
	d.budget = budget.For(int64(len(d.data)))
	for cy := to.window.Min.Y / p.chunkH; cy*p.chunkH < to.window.Max.Y; cy++ {
		for cx := to.window.Min.X / p.chunkW; cx*p.chunkW < to.window.Max.X; cx++ {
			at, i := image.Pt(cx*p.chunkW, cy*p.chunkH), cy*p.across+cx
			err := d.stopped()
			if err != nil {
				return fmt.Errorf("tiff: decode: %w", err)
			}
			if samples == nil {
				err = d.decodeChunk(to, i, at)
			} else {
				err = d.storedChunk(samples, to, i, at)
			}
			if err != nil {
				return fmt.Errorf("tiff: decode: %s at (%d, %d): %w", p.chunkName(), at.X, at.Y, err)
			}
		}
	}
	return nil
}

// stopped is the error of Stop.
func (d *Decoder) stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
}

// Memory is how many bytes decoding a window of the file whose header was read takes at most, beside tables and the window.
func (d *Decoder) Memory(window image.Rectangle) int64 {
	p := &d.stored
	w, h, samples := int64(p.chunkW), int64(p.rows(0)), int64(p.samples)
	n := w*samples*int64(p.bits+7)/8 + 4*w // a row
	if p.reversed {
		n += int64(len(d.data))
	}
	switch {
	case p.compression == newJPEG: // with several scans, and with the greatest sampling factors
		n += 4*w*h + 2*int64(len(d.data)) + (w+32)*(h+32)*samples*5/2 + 128*(w+32)*samples
	case p.compression != none || p.planes:
		n += p.chunkSize(0) * int64(p.parts())
	}
	return n
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("TIFF with "+format+", which penstock does not read: %w", append(args, errors.ErrUnsupported)...)
}

// A storedImage describes how the image is stored, by the file's directory.
type storedImage struct {
	w, h        int // before rotation
	orientation int
	compression compression
	photometric int
	kind        kind
	asStored    bool // samples are wanted as they are stored
	bits        int  // per sample
	samples     int  // per pixel, as stored
	bands       int  // how many of them are needed, from the first on
	alpha       bool // the fourth sample is alpha, and the others are premultiplied
	planes      bool // samples are stored in planes, one per band
	reversed    bool // the first bit of a byte is the lowest
	high        bool // the first byte of a number is the highest
	invert      bool // grey, and 0 is white
	predictor   int

	codecs []Codec
	codec  func(dst, src []byte) error // if compression is added

	chunkW, chunkH int // of a strip or tile
	tiled          bool
	across, down   int // chunks of a plane
	offsets        values
	counts         values
	tables         []byte // the JPEG tables of all chunks

	rooms [3]few // memory for the values of three fields
}

// A kind is how samples become colours.
type kind uint8

const (
	indices kind = iota // indices into a palette, or grey levels, of 1 to 8 bits
	gray8               // may have other samples after it
	gray16
	signed16
	signed32
	float32s
	colours8
	colours16
)

// The values of the photometric field that Pillow knows.
const (
	whiteIsZero = 0
	blackIsZero = 1
	rgb         = 2
	paletted    = 3
	separated   = 5
	ycbcrPhoto  = 6
)

func (p *storedImage) read(d *directory) (err error) {
	must := func(t tag, byDefault int) (v int) {
		if err == nil {
			v, err = d.uint(t, byDefault)
		}
		return v
	}
	p.w = must(imageWidth, -1)
	p.h = must(imageLength, -1)
	p.compression = compression(must(compressionTag, 1))
	if i := slices.IndexFunc(p.codecs, func(c Codec) bool { return c.Code == int(p.compression) }); i >= 0 {
		p.compression, p.codec = added, p.codecs[i].Decompress
	}
	p.photometric = must(photometricTag, 0)
	p.predictor = must(predictorTag, 1)
	planar := must(planarConfig, 1)
	fill := must(fillOrder, 1)
	if err == nil {
		err = p.compression.check()
	}
	if err != nil {
		return err
	}
	if p.w < 1 || p.h < 1 || max(p.w, p.h) > longest {
		return fmt.Errorf("%d×%d pixels", p.w, p.h)
	}
	if planar != 1 && planar != 2 {
		return fmt.Errorf("planar configuration %d", planar)
	}
	if fax := p.compression == fax3 || p.compression == fax4; fill != 1 && (fill != 2 || !fax) {
		return unsupported("fill order %d", fill)
	}
	p.reversed = fill == 2
	p.high = d.order.String() == "BigEndian"
	if p.orientation, err = readOrientation(d); err != nil {
		return err
	}
	if err := p.readSamples(d, planar == 2); err != nil {
		return err
	}
	if err := p.readChunks(d); err != nil {
		return err
	}
	return p.compression.read(p, d)
}

// longest is the limit of pixels in a row or column.
const longest = 1 << 24

// readColours sets the palette. Its colours are the upper 8 bits of the field's
// values. Without a palette in the file they are grey levels.
func (d *Decoder) readColours(dir *directory) error {
	p := &d.stored
	d.palette = [256][3]uint8{}
	if p.photometric != paletted {
		top := 1<<p.bits - 1
		for i := range top + 1 {
			v := uint8(i * 255 / top)
			if p.invert {
				v = 255 - v
			}
			d.palette[i] = [3]uint8{v, v, v}
		}
		return nil
	}
	v, err := dir.uints(colorMap)
	if err != nil {
		return err
	}
	n := v.len() / 3
	if n == 0 || n > 256 {
		return fmt.Errorf("palette of %d values", v.len())
	}
	for i := range n {
		for c := range 3 {
			d.palette[i][c] = uint8(v.uint(c*n+i) >> 8)
		}
	}
	return nil
}

// A few is memory for the first values of a field.
type few [8]int

// ints returns the first values of a field, in the given memory.
func (v values) ints(room *few) []int {
	out := room[:min(v.len(), len(room))]
	for i := range out {
		out[i] = int(min(v.uint(i), 1<<16))
	}
	return out
}

// alike reports whether all values are equal to v.
func alike(values []int, v int) bool {
	return !slices.ContainsFunc(values, func(x int) bool { return x != v })
}

// An orientation is how a stored image is rotated and mirrored before it is shown, 1
// to 8 as in TIFF 6.0. Any other value means 1.
type orientation int

// swaps reports whether rows become columns, mirrored whether left and right of the
// stored image are exchanged, and upended whether its top and bottom are.
func (o orientation) swaps() bool    { return o >= 5 }
func (o orientation) mirrored() bool { return o == 2 || o == 3 || o == 7 || o == 8 }
func (o orientation) upended() bool  { return o == 3 || o == 4 || o == 6 || o == 7 }

// size is the size of the rotated image.
func (o orientation) size(w, h int) (int, int) {
	if o.swaps() {
		return h, w
	}
	return w, h
}

// readOrientation returns the orientation of the field or, if that is missing, of the
// XMP data, as Pillow does. Without either it is 1.
func readOrientation(d *directory) (int, error) {
	v, err := d.field(orientationTag)
	switch {
	case err != nil:
		return 0, err
	case v.kind == 0:
	case v.isInteger():
		return valid(int(v.uint(0) & math.MaxUint16)), nil
	default:
		return 1, nil
	}
	xmp, err := d.field(xmpTag)
	if err != nil {
		return 0, err
	}
	return valid(jpeg.Orientation(nil, xmp.data)), nil
}

func valid(o int) int {
	if o < 1 || o > 8 {
		return 1
	}
	return o
}

// A target is where the pixels of a stored image go.
type target struct {
	window      image.Rectangle // of the stored image
	dst         []byte
	at          int // index in dst of the window's first pixel
	right, down int // from a pixel to its neighbours in the stored image
}

// target is the target of a window of the rotated image, which has w×h pixels. Pixels are
// step elements apart and rows stride. The caller sets dst.
func (o orientation) target(step, stride int, window image.Rectangle, w, h int) target {
	t := target{window: window, right: step, down: stride}
	if o.swaps() {
		t.window = image.Rect(window.Min.Y, window.Min.X, window.Max.Y, window.Max.X)
		t.right, t.down = t.down, t.right
		w, h = h, w
	}
	if o.mirrored() {
		t.window.Min.X, t.window.Max.X = w-t.window.Max.X, w-t.window.Min.X
		t.at += (t.window.Dx() - 1) * t.right
		t.right = -t.right
	}
	if o.upended() {
		t.window.Min.Y, t.window.Max.Y = h-t.window.Max.Y, h-t.window.Min.Y
		t.at += (t.window.Dy() - 1) * t.down
		t.down = -t.down
	}
	return t
}

// offset is the index in dst of pixel (x, y) of the stored image.
func (t *target) offset(x, y int) int {
	return t.at + (x-t.window.Min.X)*t.right + (y-t.window.Min.Y)*t.down
}

// turn copies pixels of a row of the stored image, from (x, y) on, to the target. If a
// row goes to the target from left to right, its pixels are there already.
func (t *target) turn(x, y int, pixels []byte) {
	if t.right == 4 {
		return
	}
	at := t.offset(x, y)
	for i := 0; i < len(pixels); i += 4 {
		copy(t.dst[at:at+4], pixels[i:i+4])
		at += t.right
	}
}
