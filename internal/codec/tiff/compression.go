package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math/bits"

	"golang.org/x/image/ccitt"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/inflate"
)

// A compression is a value of the field Compression.
type compression int

const (
	none         compression = 1
	fax3         compression = 3
	fax4         compression = 4
	lzwCodes     compression = 5
	newJPEG      compression = 7
	deflate      compression = 8
	packBits     compression = 32773
	pixarDeflate compression = 32946
	zstd         compression = 50000
	added        compression = -1 // that of a Codec
)

// A Codec adds a compression, or takes the place of one.
type Codec struct {
	Code int // the value of the field Compression
	// Decompress fills dst with the samples of a strip or tile, from its bytes. It ignores bytes after
	// these. It gets at most 32 KiB for every byte of src.
	Decompress func(dst, src []byte) error
}

// check is the error of a compression that is not read.
func (c compression) check() error {
	switch c {
	case none, packBits, lzwCodes, deflate, pixarDeflate, fax3, fax4, newJPEG, added:
		return nil
	}
	if c == zstd {
		return unsupported("compression %d (zstd; package transform/zstd adds it)", int(c))
	}
	return unsupported("compression %d", int(c))
}

// read reads the fields that belong to a compression.
func (c compression) read(p *storedImage, d *directory) error {
	switch c {
	case none, packBits:
		p.predictor = 1
	case lzwCodes, deflate, pixarDeflate, added:
		if err := p.checkPredictor(); err != nil {
			return err
		}
	case fax3, fax4:
		p.predictor = 1
		if p.bits != 1 || p.samples != 1 {
			return unsupported("compression %d (fax) of %d samples of %d bits", c, p.samples, p.bits)
		}
		options, err := d.uint(t4Options, 0)
		if err != nil {
			return err
		}
		if c == fax3 && options&1 != 0 {
			return unsupported("compression 3 (fax) of two dimensions")
		}
	case newJPEG:
		p.predictor = 1
		if p.bits != 8 {
			return unsupported("JPEG of %d bits per sample", p.bits)
		}
		if p.planes {
			return unsupported("JPEG in planes")
		}
		tables, err := d.field(jpegTables)
		if err != nil {
			return err
		}
		p.tables = tables.data
	}
	return nil
}

func (p *storedImage) checkPredictor() error {
	switch {
	case p.predictor == 1:
	case p.predictor == 2 && (p.bits == 8 || p.bits == 16 || p.bits == 32):
	case p.predictor == 3 && p.kind == float32s:
	default:
		return unsupported("predictor %d of samples of %d bits", p.predictor, p.bits)
	}
	return nil
}

// most is an upper limit of the bytes of samples in n compressed bytes. An LZW code has
// at least 9 bits and gives at most 4094 bytes. Deflate needs two bits for 258 bytes,
// and zstd, which may be added, a block of 4 bytes for 128 KiB. A row of a fax may take one bit, and so
// may a block of 64 samples in JPEG.
func (c compression) most(p *storedImage, n int) int64 {
	size := int64(n)
	switch c {
	case none:
		return size
	case fax3, fax4:
		return 8 * size * p.rowSize()
	case lzwCodes:
		return size*8/9*4094 + 4094
	case newJPEG:
		return 8 * size * 64 * 16
	case packBits:
		return size * 64
	case added:
		return size << 15
	}
	return size * 1032
}

var errShort = fmt.Errorf("too few bytes after decompression: %w", io.ErrUnexpectedEOF)

// decompress fills dst, a chunk of one plane.
func (d *Decoder) decompress(dst, src []byte) error {
	p := &d.stored
	if p.reversed {
		d.compressed = grow(d.compressed, len(src))
		for i, b := range src {
			d.compressed[i] = bits.Reverse8(b)
		}
		src = d.compressed
	}
	var err error
	switch p.compression {
	case packBits:
		err = unpackBits(dst, src)
	case lzwCodes:
		err = d.lzw.decode(dst, src)
	case deflate, pixarDeflate:
		err = d.inflate.decode(dst, src)
	case added:
		err = p.codec(dst, src)
	case fax3, fax4:
		if err = d.budget.Memory(faxMemory + 2*int64(p.chunkW)); err == nil {
			err = d.fax.decode(dst, src, p.chunkW, p.compression)
		}
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return err
	}
	d.predict(dst)
	return nil
}

// unpackBits decodes runs of bytes. Source: TIFF 6.0, section 9.
func unpackBits(dst, src []byte) error {
	for len(dst) > 0 {
		if len(src) < 2 {
			return errShort
		}
		n := int(int8(src[0]))
		src = src[1:]
		switch {
		case n == -128:
		case n < 0:
			n = min(1-n, len(dst))
			for i := range dst[:n] {
				dst[i] = src[0]
			}
			dst, src = dst[n:], src[1:]
		default:
			n = min(1+n, len(dst))
			if n > len(src) {
				return errShort
			}
			copy(dst, src[:n])
			dst, src = dst[n:], src[n:]
		}
	}
	return nil
}

// An inflater decodes zlib streams.
type inflater struct{ stream *inflate.Filler }

// decode fills dst. Bytes after that are not read, the checksum included, as in
// libtiff.
func (z *inflater) decode(dst, src []byte) error {
	if z.stream == nil {
		z.stream = new(inflate.Filler)
	}
	n, err := z.stream.Zlib(dst, src)
	if err == nil && n < len(dst) {
		err = errShort
	}
	return err
}

// faxMemory is what a reader of package ccitt takes, and two bytes for each pixel of a row.
const faxMemory = 1408

// A fax decodes rows of black and white by ITU-T T.6, or by T.4 in one dimension and with marks at
// the ends of lines. Package ccitt allocates a reader for each strip.
type fax struct{ src bytes.Reader }

// decode fills dst with rows of this number of pixels. A bit of 1 is black.
func (f *fax) decode(dst, src []byte, width int, c compression) error {
	f.src.Reset(src)
	format := ccitt.Group3
	if c == fax4 {
		format = ccitt.Group4
	}
	r := ccitt.NewReader(&f.src, ccitt.MSB, format, width, len(dst)/((width+7)/8), &ccitt.Options{Invert: true})
	_, err := io.ReadFull(r, dst)
	return bulk.Unexpected(err)
}

// Codes of LZW. Source: TIFF 6.0, section 13.
const (
	lzwClear = 256
	lzwEnd   = 257
	lzwFirst = 258
	lzwMost  = 4096
)

var errLZW = errors.New("an LZW code is not in the table")

// An lzw is the table of a decoder. A code means bytes that have been written before.
//
// The reader of golang.org/x/image/tiff/lzw cannot be used again: it takes 20 KiB for each strip or
// tile, so that a small file of many strips takes more memory than its size allows.
type lzw struct {
	from   [lzwMost]int // index in the destination
	length [lzwMost]int
}

// decode fills dst. Files of libtiff before version 3, whose codes have the lowest bit first, are
// errors.
func (t *lzw) decode(dst, src []byte) error {
	if len(src) >= 2 && src[0] == 0 && src[1]&1 != 0 {
		return unsupported("LZW codes whose lowest bit comes first")
	}
	var acc uint64
	var n uint // bits in acc, from the top
	width, next, at := uint(9), lzwFirst, 0
	last, lastLength := -1, 0 // where the last code's bytes are in dst
	for at < len(dst) {
		for ; n <= 56 && len(src) > 0; src = src[1:] {
			acc |= uint64(src[0]) << (56 - n)
			n += 8
		}
		if n < width {
			return errShort
		}
		code := int(acc >> (64 - width))
		acc <<= width
		n -= width
		if code == lzwClear {
			width, next, last = 9, lzwFirst, -1
			continue
		}
		if code == lzwEnd {
			return errShort
		}
		length, err := t.write(dst, at, code, next, last, lastLength)
		if err != nil {
			return err
		}
		if last >= 0 && next < lzwMost {
			t.from[next], t.length[next] = last, lastLength+1
			next++
			if next >= 1<<width-1 && width < 12 {
				width++
			}
		}
		last, lastLength = at, length
		at += length
	}
	return nil
}

// write writes the bytes of a code and returns their number.
func (t *lzw) write(dst []byte, at, code, next, last, lastLength int) (int, error) {
	switch {
	case code < lzwClear:
		dst[at] = byte(code)
		return 1, nil
	case code < next && code >= lzwFirst && last >= 0:
		length := t.length[code]
		copy(dst[at:], dst[t.from[code]:][:length])
		return length, nil
	case code == next && last >= 0:
		n := copy(dst[at:], dst[last:at])
		if at+n < len(dst) {
			dst[at+n] = dst[last]
		}
		return lastLength + 1, nil
	}
	return 0, errLZW
}

// decodeChunk writes the part of chunk i that the target needs. The chunk's first
// pixel is at.
func (d *Decoder) decodeChunk(to *target, i int, at image.Point) error {
	p := &d.stored
	part := image.Rect(0, 0, p.chunkW, p.rows(i)).Add(at).Intersect(to.window)
	if p.compression == newJPEG {
		return d.decodeJPEG(to, i, at, part)
	}
	chunk, err := d.samplesOf(i)
	if err != nil {
		return err
	}
	n := p.rowBytes()
	if p.planes && p.bands > 1 {
		d.row = grow(d.row, p.chunkW*p.bands*(p.bits/8))
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := chunk[(y-at.Y)*n:]
		if p.planes && p.bands > 1 {
			d.interleave(row, p.chunkBytes(i), part.Min.X-at.X, part.Max.X-at.X)
			row = d.row
		}
		pixels := d.pixels(to, part, y)
		d.convert(pixels, row, part.Min.X-at.X)
		to.turn(part.Min.X, y, pixels)
	}
	return nil
}

// pixels is where the pixels of row y of a part are to be written: in the target, or
// in memory from which turn copies them.
func (d *Decoder) pixels(to *target, part image.Rectangle, y int) []byte {
	n := 4 * part.Dx()
	if to.right == 4 {
		return to.dst[to.offset(part.Min.X, y):][:n]
	}
	d.turned = grow(d.turned, n)
	return d.turned
}

// samplesOf returns the samples of chunk i, one plane after the other.
func (d *Decoder) samplesOf(i int) ([]byte, error) {
	p := &d.stored
	size := p.chunkBytes(i)
	if p.compression == none && !p.planes {
		from, to, err := p.extent(d.data, 0, i)
		return d.data[from:to], err
	}
	d.chunk = grow(d.chunk, size*p.parts())
	for plane := range p.parts() {
		src, err := d.compressedChunk(plane, i)
		if err != nil {
			return nil, err
		}
		dst := d.chunk[plane*size:][:size]
		if p.compression == none {
			copy(dst, src)
			continue
		}
		if err := d.decompress(dst, src); err != nil {
			return nil, err
		}
	}
	return d.chunk, nil
}

// A compressed byte takes byteSteps of the budget, because the slowest bytes are those of tables.
// A pixel justifies pixelSteps.
const byteSteps, pixelSteps = 16, 8

// compressedChunk is chunk i of a plane as it is in the file. Chunks may share their bytes: the
// budget has enough for all bytes of the file four times, and more for the pixels.
func (d *Decoder) compressedChunk(plane, i int) ([]byte, error) {
	p := &d.stored
	from, to, err := p.extent(d.data, plane, i)
	if err != nil {
		return nil, err
	}
	d.budget.Grant(0, pixelSteps*int64(p.chunkW)*int64(p.rows(i)))
	if p.compression != none {
		err = d.budget.Work(byteSteps * int64(to-from+len(p.tables)))
	}
	return d.data[from:to], err
}

// interleave copies a row's samples from planes into d.row, pixel by pixel. The planes
// are size bytes apart. It copies pixels from to to-1.
func (d *Decoder) interleave(planes []byte, size, from, to int) {
	p := &d.stored
	n := p.bits / 8
	for b := range p.bands {
		src := planes[b*size:]
		for x := from; x < to; x++ {
			copy(d.row[(x*p.bands+b)*n:][:n], src[x*n:])
		}
	}
}

// decodeJPEG is decodeChunk for chunks that are JPEG files. Their tables may be in the
// directory.
func (d *Decoder) decodeJPEG(to *target, i int, at image.Point, part image.Rectangle) error {
	window := part.Sub(at)
	n := 4 * part.Dx()
	d.chunk = grow(d.chunk, n*part.Dy())
	file, err := d.compressedChunk(0, i)
	if err != nil {
		return err
	}
	if err := d.jpegHeader(file, i); err != nil {
		return err
	}
	if err := d.jpeg.Decode(d.chunk, n, window); err != nil {
		return err
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := d.chunk[(y-part.Min.Y)*n:]
		pixels := d.pixels(to, part, y)
		d.convertJPEG(pixels, row)
		to.turn(part.Min.X, y, pixels)
	}
	return nil
}

// jpegHeader reads and checks the header of the JPEG file in chunk i of a plane.
func (d *Decoder) jpegHeader(file []byte, i int) error {
	p := &d.stored
	d.jpeg.MaxPixels, d.jpeg.Budget, d.jpeg.Stop = d.MaxPixels, &d.budget, d.Stop
	d.jpeg.Tables = p.tables
	d.jpeg.Colours = jpeg.AsStored
	if p.photometric == ycbcrPhoto {
		d.jpeg.Colours = jpeg.AsYCbCr
	}
	c, err := d.jpeg.Header(file)
	if err != nil {
		return err
	}
	if c.Width != p.chunkW || c.Height != p.rows(i) && (p.tiled || c.Height < p.rows(i) || i < p.down-1) {
		return fmt.Errorf("JPEG of %d×%d pixels in a %s of %d×%d", c.Width, c.Height, p.chunkName(), p.chunkW, p.rows(i))
	}
	if c.Components != p.samples {
		return fmt.Errorf("JPEG of %d components for %d samples", c.Components, p.samples)
	}
	return nil
}

// convertJPEG makes pixels from the JPEG decoder's output, which has 4 bytes per pixel.
func (d *Decoder) convertJPEG(dst, src []byte) {
	p := &d.stored
	switch p.kind {
	case indices:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[i]])
		}
	case gray8:
		convertGray(dst, src, 4, p.invert)
	default:
		convertColours(dst, src, 4, 1, 0, p.alpha)
	}
}
