// Package dicom reads the images of DICOM files: slices of CT, MR and PET, one per file. It reads uncompressed
// values in little endian, with implicit and explicit VR: what scanners and archives write unless told otherwise.
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

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is the header of a file. A field that the file does not have is "", 0 or nil.
type Image struct {
	Series, FrameOfReference     string // UIDs
	Modality, Description, Units string // Description is the series description

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

	name          string
	bytes, offset int64 // size of the file, and offset of the values
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
	length, err := m.parse(src)
	if err != nil {
		return nil, err
	}
	m.offset = src.Offset()
	return m, m.check(length)
}

// Size is the size of the stored values in bytes.
func (m *Image) Size() int { return m.Rows * m.Columns * m.Bits / 8 }

// check returns an error if such an image is not read, or if the file cannot hold its length bytes of values.
func (m *Image) check(length uint32) error {
	switch {
	case m.Rows < 1 || m.Columns < 1 || m.Rows > 1<<16 || m.Columns > 1<<16:
		return fmt.Errorf("%d Rows and %d Columns, want 1 to 65536", m.Rows, m.Columns)
	case m.Bits != 8 && m.Bits != 16 && m.Bits != 32:
		return fmt.Errorf("BitsAllocated: %d, want 8, 16 or 32", m.Bits)
	case m.Stored < 1 || m.High >= m.Bits || m.High+1 < m.Stored:
		return fmt.Errorf("BitsStored: %d with HighBit %d do not fit %d allocated bits", m.Stored, m.High, m.Bits)
	}
	size := int64(m.Rows) * int64(m.Columns) * int64(m.Bits) / 8
	if int64(length) != size && int64(length) != size+size%2 {
		return fmt.Errorf("PixelData: %d bytes, want %d for %d by %d values of %d bits", length, size, m.Rows, m.Columns, m.Bits)
	}
	if left := m.bytes - m.offset; size > left {
		return fmt.Errorf("PixelData: %d bytes of values, the file can hold %d: %w", size, max(left, 0), io.ErrUnexpectedEOF)
	}
	return nil
}

// Decode reads the stored values into dst, in little endian. Dst must have Size bytes. Bits above and below the stored ones
// are kept: see [Image.Values].
func (m *Image) Decode(fsys fs.FS, dst []byte) error {
	src, err := bulk.Open(fsys, m.name, window)
	if err != nil {
		return files.Cause(err)
	}
	defer src.Close()
	if src.Size() != m.bytes {
		return errors.New("the file has changed")
	}
	if err = src.Skip(m.offset); err == nil {
		_, err = io.ReadFull(src, dst)
	}
	if err != nil {
		return fmt.Errorf("PixelData: %w", bulk.Unexpected(err))
	}
	return nil
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
			dst[i] = m.value(uint32(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	case 32:
		for i := range dst {
			dst[i] = m.value(binary.LittleEndian.Uint32(raw[4*i:]))
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
