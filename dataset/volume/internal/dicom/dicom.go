// Package dicom reads the images of DICOM files: slices of CT, MR and PET, one per file. It reads the transfer syntaxes
// without a codec (implicit and explicit VR, both byte orders, deflated) and RLE.
//
// It follows DICOM PS3.3, PS3.5 and PS3.10. Only the elements that describe the values and the geometry are read. All
// others are skipped without memory for them, however deep their sequences are.
package dicom

import (
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
