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
