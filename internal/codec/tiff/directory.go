package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A tag names a field. Source: TIFF 6.0, and its technical notes.
type tag uint16

const (
	imageWidth      tag = 256
	imageLength     tag = 257
	bitsPerSample   tag = 258
	compressionTag  tag = 259
	photometricTag  tag = 262
	fillOrder       tag = 266
	stripOffsets    tag = 273
	orientationTag  tag = 274
	samplesPerPixel tag = 277
	rowsPerStrip    tag = 278
	stripByteCounts tag = 279
	planarConfig    tag = 284
	t4Options       tag = 292
	predictorTag    tag = 317
	colorMap        tag = 320
	tileWidth       tag = 322
	tileLength      tag = 323
	tileOffsets     tag = 324
	tileByteCounts  tag = 325
	extraSamples    tag = 338
	sampleFormat    tag = 339
	jpegTables      tag = 347
	xmpTag          tag = 700
)

// sizes are the sizes in bytes of the types of values. 0 means that there is no such
// type.
var sizes = [19]int{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

// The types of values that numbers may have.
const (
	typeShort  = 3
	typeLong   = 4
	typeSShort = 8
	typeSLong  = 9
	typeIFD    = 13
	typeLong8  = 16
)

// A directory is the file's first one. It holds the image's fields.
type directory struct {
	data    []byte // the whole file
	order   binary.ByteOrder
	large   bool   // BigTIFF
	entries []byte // of 12 bytes, or 20 in BigTIFF
}

// readDirectory finds the first directory. The version may be in another byte order
// than the first two bytes say, as in Pillow.
func readDirectory(data []byte) (d directory, err error) {
	d.data = data
	if len(data) < 8 {
		return d, io.ErrUnexpectedEOF
	}
	switch string(data[:2]) {
	case "II":
		d.order = binary.LittleEndian
	case "MM":
		d.order = binary.BigEndian
	default:
		return d, fmt.Errorf("the file begins with %q", data[:4])
	}
	at, size, length := uint64(d.order.Uint32(data[4:])), 12, 2
	switch version := uint16(data[2]) | uint16(data[3]); {
	case version == 42 && (data[2] == 0 || data[3] == 0):
	case d.order.Uint16(data[2:]) == 43:
		if len(data) < 16 {
			return d, io.ErrUnexpectedEOF
		}
		if d.order.Uint16(data[4:]) != 8 {
			return d, fmt.Errorf("offsets of %d bytes", d.order.Uint16(data[4:]))
		}
		d.large = true
		at, size, length = d.order.Uint64(data[8:]), 20, 8
	default:
		return d, fmt.Errorf("the file begins with %q", data[:4])
	}
	if at > uint64(len(data)-length) || len(data) < length {
		return d, fmt.Errorf("the directory begins at byte %d of %d: %w", at, len(data), io.ErrUnexpectedEOF)
	}
	rest := data[at:]
	n := uint64(d.order.Uint16(rest))
	if d.large {
		n = d.order.Uint64(rest)
	}
	rest = rest[length:]
	if n > uint64(len(rest)/size) {
		return d, fmt.Errorf("the directory ends after %d of %d fields: %w", len(rest)/size, n, io.ErrUnexpectedEOF)
	}
	d.entries = rest[:n*uint64(size)]
	return d, d.check()
}

// values are the values of a field, as they are in the file.
type values struct {
	data  []byte
	kind  int
	order binary.ByteOrder
}

// len is the number of values.
func (v values) len() int {
	if v.kind == 0 {
		return 0
	}
	return len(v.data) / sizes[v.kind]
}

// isInteger reports whether the values are integers, which uint can return.
func (v values) isInteger() bool {
	switch v.kind {
	case typeShort, typeLong, typeSShort, typeSLong, typeIFD, typeLong8:
		return true
	}
	return false
}

// uint is the i-th value. The values must be integers. Negative ones become large.
func (v values) uint(i int) uint64 {
	switch v.kind {
	case typeShort, typeSShort:
		return uint64(v.order.Uint16(v.data[2*i:]))
	case typeLong, typeSLong, typeIFD:
		return uint64(v.order.Uint32(v.data[4*i:]))
	}
	return v.order.Uint64(v.data[8*i:])
}

// entry is a field of the directory.
type entry struct {
	tag tag
	values
}

// next reads the first entry, and returns the others. An entry of an unknown type has
// no values.
func (d *directory) next(entries []byte) (e entry, rest []byte, err error) {
	size, inline, n := 12, entries[8:12], uint64(d.order.Uint32(entries[4:]))
	if d.large {
		size, inline, n = 20, entries[12:20], d.order.Uint64(entries[4:])
	}
	e.tag = tag(d.order.Uint16(entries))
	rest = entries[size:]
	kind := int(d.order.Uint16(entries[2:]))
	if kind >= len(sizes) || sizes[kind] == 0 || n == 0 {
		return e, rest, nil
	}
	e.values = values{inline, kind, d.order}
	if n > uint64(len(inline)/sizes[kind]) {
		at := uint64(d.order.Uint32(inline))
		if d.large {
			at = d.order.Uint64(inline)
		}
		if at > uint64(len(d.data)) || n > (uint64(len(d.data))-at)/uint64(sizes[kind]) {
			return e, rest, fmt.Errorf("the values of field %d are beyond the end of the file: %w", e.tag, io.ErrUnexpectedEOF)
		}
		e.data = d.data[at:]
	}
	e.data = e.data[:n*uint64(sizes[kind])]
	return e, rest, nil
}

// check checks that the values of all fields are in the file. Pillow ignores the
// fields after one whose values are not.
func (d *directory) check() error {
	for rest := d.entries; len(rest) > 0; {
		var err error
		if _, rest, err = d.next(rest); err != nil {
			return err
		}
	}
	return nil
}

// field returns the values of a tag, or none if it is missing. Two fields with the
// same tag are an error, because Pillow takes the last and libtiff the first.
func (d *directory) field(t tag) (v values, err error) {
	for rest := d.entries; len(rest) > 0; {
		var e entry
		if e, rest, err = d.next(rest); err != nil {
			return v, err
		}
		switch {
		case e.tag != t || e.kind == 0:
		case v.kind != 0:
			return v, fmt.Errorf("field %d occurs twice", t)
		default:
			v = e.values
		}
	}
	return v, nil
}

// uints returns a field of integers.
func (d *directory) uints(t tag) (values, error) {
	v, err := d.field(t)
	if err != nil {
		return v, err
	}
	if v.kind == 0 || v.isInteger() {
		return v, nil
	}
	return v, fmt.Errorf("field %d has values of type %d, not integers", t, v.kind)
}

var errMissing = errors.New("is missing")

// uint returns the value of a field that has one value, limited to 1<<31 − 1. For a
// missing field it returns byDefault. If that is negative, the field must not be
// missing.
func (d *directory) uint(t tag, byDefault int) (int, error) {
	v, err := d.uints(t)
	switch {
	case err != nil:
		return 0, err
	case v.len() > 1:
		return 0, fmt.Errorf("field %d has %d values, not one", t, v.len())
	case v.len() == 1:
		return int(min(v.uint(0), math.MaxInt32)), nil
	case byDefault < 0:
		return 0, fmt.Errorf("field %d %w", t, errMissing)
	}
	return byDefault, nil
}

// readChunks reads how the image is divided into strips or tiles, the chunks.
func (p *storedImage) readChunks(d *directory) (err error) {
	width, err := d.uint(tileWidth, 0)
	if err != nil {
		return err
	}
	offsets, counts := stripOffsets, stripByteCounts
	p.tiled = width > 0
	if p.tiled {
		offsets, counts = tileOffsets, tileByteCounts
		p.chunkW = width
		if p.chunkH, err = d.uint(tileLength, -1); err != nil {
			return err
		}
	} else {
		p.chunkW = p.w
		if p.chunkH, err = d.uint(rowsPerStrip, p.h); err != nil {
			return err
		}
		p.chunkH = min(p.chunkH, p.h)
	}
	if p.chunkW < 1 || p.chunkH < 1 || max(p.chunkW, p.chunkH) > longest {
		return fmt.Errorf("%ss of %d×%d pixels", p.chunkName(), p.chunkW, p.chunkH)
	}
	p.across = (p.w + p.chunkW - 1) / p.chunkW
	p.down = (p.h + p.chunkH - 1) / p.chunkH
	if p.offsets, err = d.uints(offsets); err != nil {
		return err
	}
	if p.tiled && p.offsets.len() == 0 { // some writers use the fields of strips
		if p.offsets, err = d.uints(stripOffsets); err != nil {
			return err
		}
		counts = stripByteCounts
	}
	p.counts, err = d.uints(counts)
	return err
}

func (p *storedImage) chunkName() string {
	if p.tiled {
		return "tile"
	}
	return "strip"
}

// parts is the number of planes.
func (p *storedImage) parts() int {
	if p.planes {
		return p.bands
	}
	return 1
}

// rowSize is the length of a chunk's row in one plane.
func (p *storedImage) rowSize() int64 {
	if p.planes {
		return (int64(p.chunkW)*int64(p.bits) + 7) / 8
	}
	return (int64(p.chunkW)*int64(p.bits)*int64(p.samples) + 7) / 8
}

// rowBytes is rowSize, after check.
func (p *storedImage) rowBytes() int { return int(p.rowSize()) }

// rows is the number of rows in chunk i of a plane. The last strip may have fewer than
// the others.
func (p *storedImage) rows(i int) int {
	if p.tiled {
		return p.chunkH
	}
	return min(p.chunkH, p.h-i/p.across*p.chunkH)
}

// chunkSize is the uncompressed length of chunk i of a plane.
func (p *storedImage) chunkSize(i int) int64 {
	return int64(p.rows(i)) * p.rowSize()
}

// chunkBytes is chunkSize, after check.
func (p *storedImage) chunkBytes(i int) int { return int(p.chunkSize(i)) }

// extent is where chunk i of a plane is in the file.
func (p *storedImage) extent(data []byte, plane, i int) (from, to int, err error) {
	i += plane * p.across * p.down
	switch {
	case p.offsets.len() < (plane+1)*p.across*p.down:
		return 0, 0, p.missing(p.offsets.len())
	case p.compression == none && p.across*p.down == 1 && !p.planes:
		i = p.offsets.len() - 1 // as in Pillow
	}
	offset := p.offsets.uint(i)
	room := uint64(len(data)) - min(offset, uint64(len(data)))
	length := room
	switch {
	case p.compression == none:
		length = uint64(p.chunkSize(i % (p.across * p.down)))
	case i < p.counts.len() && (p.counts.uint(i) > 0 || p.offsets.len() > 1):
		length = p.counts.uint(i)
	case p.offsets.len() > 1:
		return 0, 0, p.missing(p.counts.len())
	}
	if length > room || offset == 0 || offset > uint64(len(data)) {
		return 0, 0, fmt.Errorf("%s %d: %d bytes at byte %d of %d: %w", p.chunkName(), i, length, offset, len(data), io.ErrUnexpectedEOF)
	}
	return int(offset), int(offset + length), nil
}

// check checks that all chunks are in the file and can hold their pixels.
func (p *storedImage) check(data []byte, limit int) error {
	values := 1 // per pixel, of those that the limit is for
	if p.asStored {
		values = p.samples
	}
	if p.compression != none && p.chunkW > limit/values/p.chunkH {
		return fmt.Errorf("%ss of %d×%d pixels and %d samples, more than the limit of %d (see MaxPixels)", p.chunkName(), p.chunkW, p.chunkH, p.samples, limit)
	}
	if p.across > len(data)/p.down {
		return p.tooFew(len(data))
	}
	var need, most int64
	for plane := range p.parts() {
		for i := range p.across * p.down {
			from, to, err := p.extent(data, plane, i)
			if err != nil {
				return err
			}
			room := p.compression.most(p, to-from)
			size := p.chunkSize(i)
			if size > room {
				return p.tooFew(to - from)
			}
			if size > math.MaxInt/int64(p.parts()) {
				return fmt.Errorf("%ss of %d bytes are more than memory can hold", p.chunkName(), size)
			}
			need += size
			most = max(most, room)
		}
	}
	// Chunks may share their bytes, but only in small images.
	if need > max(most, p.compression.most(p, len(data))) && p.w > (1<<20)/values/p.h {
		return p.tooFew(len(data))
	}
	return nil
}

func (p *storedImage) missing(n int) error {
	return fmt.Errorf("%w: %d %ss are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.chunkName(), p.w, p.h)
}

func (p *storedImage) tooFew(n int) error {
	return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.w, p.h)
}
