// Package dicom reads the images of DICOM files: slices of CT, MR and PET, one per file. It reads the transfer syntaxes
// without a codec (implicit and explicit VR, both byte orders, deflated) and RLE.
//
// It follows DICOM PS3.3, PS3.5 and PS3.10. Only the elements that describe the values and the geometry are read. All
// others are skipped without memory for them, however deep their sequences are.
package dicom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is the header of a file. A field that the file does not have is "", 0 or nil.
type Image struct {
	Series, Instance, FrameOfReference string // UIDs
	Modality, Description, Units       string // Description is the series description

	Rows, Columns int
	Bits          int  // BitsAllocated: 8, 16 or 32
	Stored, High  int  // BitsStored, and HighBit, the number of the highest of them
	Signed        bool // whether the highest bit is the sign

	Slope, Intercept float64 // a stored value v means Slope·v + Intercept; Slope is 1 if the file has none

	// Position is the centre of the first value in the patient, in mm, in LPS coordinates. Orientation has two unit
	// vectors: the direction along a row, then the direction along a column. Spacing is the distance in mm between rows,
	// then between columns.
	Position, Orientation, Spacing []float64
	Thickness                      float64 // of the slice, in mm

	name   string
	syntax *syntax
	bytes  int64 // size of the file
}

// ErrNotDICOM is the error of a file in another format.
var ErrNotDICOM = errors.New("not a DICOM file: there is no DICM at byte 128")

// window is how many bytes of a file are read at a time. Headers have a few thousand bytes.
const window = 8 << 10

// ReadHeader reads the header of the named file. Errors do not name the file: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Image, error) {
	src, err := bulk.Open(fsys, name, window)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	m := &Image{name: name, Slope: 1, bytes: src.Size()}
	p, err := m.parse(src)
	if err != nil {
		return nil, err
	}
	return m, m.check(p)
}

// Size is the size of the stored values in bytes. That of an image that [ReadHeader] has read fits an int.
func (m *Image) Size() int { return int(m.size()) }

func (m *Image) size() int64 { return int64(m.Rows) * int64(m.Columns) * int64(m.Bits) / 8 }

// check returns an error if such an image is not read, or if the file cannot hold its values. P must have read the file up
// to the values.
func (m *Image) check(p *parser) error {
	switch {
	case m.Rows < 1 || m.Columns < 1 || m.Rows > 1<<16 || m.Columns > 1<<16:
		return fmt.Errorf("%d Rows and %d Columns, want 1 to 65536", m.Rows, m.Columns)
	case m.Bits != 8 && m.Bits != 16 && m.Bits != 32:
		return fmt.Errorf("BitsAllocated: %d, want 8, 16 or 32", m.Bits)
	case m.Stored < 1 || m.High >= m.Bits || m.High+1 < m.Stored:
		return fmt.Errorf("BitsStored: %d with HighBit %d do not fit %d allocated bits", m.Stored, m.High, m.Bits)
	}
	size, length := m.size(), p.found.length
	if size > math.MaxInt-bulk.Align {
		return fmt.Errorf("%d by %d values of %d bits: more than memory can hold", m.Rows, m.Columns, m.Bits)
	}
	if m.syntax.rle {
		if length != undefined {
			return errors.New("PixelData: RLE values are not in fragments")
		}
		if size/64 > m.bytes { // a run of 128 takes two bytes
			return fmt.Errorf("PixelData: %d bytes of values, more than a file of %d can hold", size, m.bytes)
		}
		return nil
	}
	if length == undefined {
		return errors.New("PixelData: fragments, but the transfer syntax has none")
	}
	if int64(length) != size && int64(length) != size+size%2 {
		return fmt.Errorf("PixelData: %d bytes, want %d for %d by %d values of %d bits", length, size, m.Rows, m.Columns, m.Bits)
	}
	left := m.bytes - p.src.Offset()
	if m.syntax.deflated {
		left = 1032 * m.bytes // the best ratio of deflate
	}
	if size > left {
		return fmt.Errorf("PixelData: %d bytes of values, the file can hold %d: %w", size, max(left, 0), io.ErrUnexpectedEOF)
	}
	return nil
}

// Decode reads the stored values into dst, in the machine's byte order. Dst must have Size bytes. Bits above and below the
// stored ones are kept: see [Image.Values].
func (m *Image) Decode(fsys fs.FS, dst []byte) error {
	src, err := bulk.Open(fsys, m.name, window)
	if err != nil {
		return files.Cause(err)
	}
	defer src.Close()
	again := &Image{Slope: 1}
	p, err := again.parse(src)
	if err != nil {
		return err
	}
	if again.Rows != m.Rows || again.Columns != m.Columns || again.Bits != m.Bits || again.Series != m.Series || again.Instance != m.Instance {
		return errors.New("the file has changed")
	}
	again.bytes = src.Size()
	if err := again.check(p); err != nil {
		return err
	}
	if len(dst) != m.Size() {
		return fmt.Errorf("destination has %d bytes, want %d", len(dst), m.Size())
	}
	if again.syntax.rle {
		return p.unpack(dst, m.Bits/8)
	}
	if err := p.fill(dst); err != nil {
		return fmt.Errorf("PixelData: %w", err)
	}
	switch {
	case again.syntax.big && m.Bits == 8 && p.found.is("OW"):
		bulk.Swap(dst, 2) // single bytes are stored in words of two
	case again.syntax.big == bulk.LittleEndian():
		bulk.Swap(dst, m.Bits/8)
	}
	return nil
}

// A syntax is a transfer syntax.
type syntax struct {
	explicit, big, deflated, rle bool
}

// syntaxOf finds a transfer syntax by its UID. Source: PS3.5, Annex A.
func syntaxOf(uid string) (*syntax, error) {
	switch uid {
	case "1.2.840.10008.1.2":
		return &syntax{}, nil
	case "1.2.840.10008.1.2.1":
		return &syntax{explicit: true}, nil
	case "1.2.840.10008.1.2.1.99":
		return &syntax{explicit: true, deflated: true}, nil
	case "1.2.840.10008.1.2.2":
		return &syntax{explicit: true, big: true}, nil
	case "1.2.840.10008.1.2.5":
		return &syntax{explicit: true, rle: true}, nil
	case "":
		return nil, fmt.Errorf("TransferSyntaxUID is missing")
	}
	if name := codecs[uid]; name != "" {
		return nil, fmt.Errorf("TransferSyntaxUID: %s is not read: want uncompressed values, deflate or RLE", name)
	}
	return nil, fmt.Errorf("TransferSyntaxUID: %.64q is not read", uid)
}

// codecs are the names of transfer syntaxes that need a codec. Source: PS3.6.
var codecs = map[string]string{
	"1.2.840.10008.1.2.4.50": "JPEG Baseline", "1.2.840.10008.1.2.4.51": "JPEG Extended",
	"1.2.840.10008.1.2.4.57": "JPEG Lossless", "1.2.840.10008.1.2.4.70": "JPEG Lossless SV1",
	"1.2.840.10008.1.2.4.80": "JPEG-LS Lossless", "1.2.840.10008.1.2.4.81": "JPEG-LS Near-Lossless",
	"1.2.840.10008.1.2.4.90": "JPEG 2000 Lossless", "1.2.840.10008.1.2.4.91": "JPEG 2000",
	"1.2.840.10008.1.2.4.201": "High-Throughput JPEG 2000 Lossless", "1.2.840.10008.1.2.4.203": "High-Throughput JPEG 2000",
}

// Values extracts the stored values from raw, which Decode has filled. A value is the Stored bits from bit High down, with
// a sign if Signed. Dst has one element per value; if it or raw has fewer, these are extracted.
func (m *Image) Values(dst []int64, raw []byte) {
	dst = dst[:min(len(dst), len(raw)/(m.Bits/8))]
	switch m.Bits {
	case 8:
		for i := range dst {
			dst[i] = m.value(uint32(raw[i]))
		}
	case 16:
		for i := range dst {
			dst[i] = m.value(uint32(binary.NativeEndian.Uint16(raw[2*i:])))
		}
	case 32:
		for i := range dst {
			dst[i] = m.value(binary.NativeEndian.Uint32(raw[4*i:]))
		}
	}
}

func (m *Image) value(raw uint32) int64 {
	raw <<= 31 - m.High
	if m.Signed {
		return int64(int32(raw) >> (32 - m.Stored))
	}
	return int64(raw >> (32 - m.Stored))
}

// Range is the smallest and the largest value that can be stored.
func (m *Image) Range() (least, most int64) {
	if m.Signed {
		return -1 << (m.Stored - 1), 1<<(m.Stored-1) - 1
	}
	return 0, 1<<m.Stored - 1
}

// unpack reads the fragments of one RLE frame. It has a segment of PackBits for every byte of a value, the highest byte
// first. Source: PS3.5, Annex G.
func (p *parser) unpack(dst []byte, size int) error {
	table, err := p.head()
	if err == nil && table.tag != item {
		err = fmt.Errorf("element %v, want an item", table.tag)
	}
	if err == nil && table.length == undefined {
		err = errors.New("an item of unknown length")
	}
	if err == nil {
		err = p.pass(table.length)
	}
	if err != nil {
		return fmt.Errorf("PixelData: offset table: %w", bulk.Unexpected(err))
	}
	frame, err := p.head()
	if err == nil && (frame.tag != item || frame.length == undefined) {
		err = fmt.Errorf("element %v of %d bytes, want an item", frame.tag, frame.length)
	}
	var head [64]byte
	if err == nil {
		err = p.fill(head[:])
	}
	if err != nil {
		return fmt.Errorf("PixelData: RLE: %w", bulk.Unexpected(err))
	}
	order := binary.LittleEndian
	if n := order.Uint32(head[:]); n != uint32(size) {
		return fmt.Errorf("PixelData: RLE: %d segments, want %d", n, size)
	}
	at := uint32(len(head))
	for k := range size {
		begin, end := order.Uint32(head[4+4*k:]), frame.length
		if k+1 < size {
			end = order.Uint32(head[8+4*k:])
		}
		if begin < at || end < begin || end > frame.length {
			return fmt.Errorf("PixelData: RLE: segment %d is at bytes %d to %d of %d", k, begin, end, frame.length)
		}
		if err := p.pass(begin - at); err != nil {
			return fmt.Errorf("PixelData: RLE: %w", err)
		}
		plane := size - 1 - k // in little endian
		if !bulk.LittleEndian() {
			plane = k
		}
		segment := io.LimitReader(p.r, int64(end-begin))
		if err := packBits(dst[plane:], size, segment); err != nil {
			return fmt.Errorf("PixelData: RLE: segment %d: %w", k, err)
		}
		if _, err := io.Copy(io.Discard, segment); err != nil {
			return fmt.Errorf("PixelData: RLE: segment %d: %w", k, err)
		}
		at = end
	}
	return nil
}

// packBits fills every step-th byte of dst. Further bytes of the segment are padding.
func packBits(dst []byte, step int, r io.Reader) error {
	var b [128]byte
	for at := 0; at < len(dst); {
		if _, err := io.ReadFull(r, b[:1]); err != nil {
			return bulk.Unexpected(err)
		}
		n, repeated := int(b[0])+1, false
		switch {
		case b[0] == 128:
			continue
		case b[0] > 128:
			n, repeated = 257-int(b[0]), true
		}
		run := b[:n]
		if repeated {
			run = b[:1]
		}
		if _, err := io.ReadFull(r, run); err != nil {
			return bulk.Unexpected(err)
		}
		for k := range n {
			if at >= len(dst) {
				return errors.New("a run goes beyond the values")
			}
			if repeated {
				dst[at] = b[0]
			} else {
				dst[at] = b[k]
			}
			at += step
		}
	}
	return nil
}
