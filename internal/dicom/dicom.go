// Package dicom reads images of DICOM files: slices of CT, MR and PET, one per file, in the transfer syntaxes that do
// without a codec (implicit and explicit VR, either byte order, deflated) and in RLE.
//
// It follows DICOM PS3.3, PS3.5 and PS3.10. Of a data set it reads what values and their place follow from and passes
// over the rest, however deep its sequences are, without memory for it.
package dicom

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is what a file says of its image. What the file does not say is "", 0 or nil.
type Image struct {
	Series, Instance, FrameOfReference string // UIDs
	Modality, Description, Units       string // Description is the series'

	Rows, Columns int
	Bits          int  // allocated per value: 8, 16 or 32
	Stored, High  int  // how many of them the value has, and the number of the highest
	Signed        bool // whether that is the sign

	Slope, Intercept float64 // what a stored value v stands for: Slope·v + Intercept

	// Position is the place of the first value's center in the patient, in mm of LPS. Orientation is the direction of rows,
	// along which columns follow each other, and of columns. Spacing is the distance of rows and of columns.
	Position, Orientation, Spacing []float64
	Thickness                      float64 // of the slice, in mm

	name   string
	syntax *syntax
	bytes  int64 // of the file
}

// ErrNotDICOM says that a file is of another format.
var ErrNotDICOM = errors.New("not a DICOM file: there is no DICM at byte 128")

// window is how many bytes of a file are read at a time. A header has a few thousand.
const window = 8 << 10

// ReadHeader reads what the named file says of its image. Errors do not name the file, which the caller does.
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

// Size is how many bytes the values have, as they are stored.
func (m *Image) Size() int { return m.Rows * m.Columns * m.Bits / 8 }

// check tells whether the image is one that is read, and whether the file, which p has read up to the values, can hold
// them.
func (m *Image) check(p *parser) error {
	switch {
	case m.Rows < 1 || m.Columns < 1 || m.Rows > 1<<16 || m.Columns > 1<<16:
		return fmt.Errorf("%d Rows by %d Columns", m.Rows, m.Columns)
	case m.Bits != 8 && m.Bits != 16 && m.Bits != 32:
		return fmt.Errorf("BitsAllocated: %d, want 8, 16 or 32", m.Bits)
	case m.Stored < 1 || m.High >= m.Bits || m.High+1 < m.Stored:
		return fmt.Errorf("BitsStored: %d up to bit %d of %d", m.Stored, m.High, m.Bits)
	}
	size, length := int64(m.Size()), p.found.length
	if m.syntax.rle {
		if length != undefined {
			return errors.New("PixelData: RLE without fragments")
		}
		if size/64 > m.bytes { // a run of 128 takes two bytes
			return fmt.Errorf("PixelData: %d bytes of values, more than a file of %d can hold", size, m.bytes)
		}
		return nil
	}
	if length == undefined {
		return errors.New("PixelData: fragments of a transfer syntax that has none")
	}
	if int64(length) != size && int64(length) != size+size%2 {
		return fmt.Errorf("PixelData: %d bytes, want %d for %d by %d values of %d bits", length, size, m.Rows, m.Columns, m.Bits)
	}
	left := m.bytes - p.src.Offset()
	if m.syntax.deflated {
		left = 1032 * m.bytes // by which deflate compresses at most
	}
	if size > left {
		return fmt.Errorf("PixelData: %d bytes of values, the file can hold %d: %w", size, max(left, 0), io.ErrUnexpectedEOF)
	}
	return nil
}

// Decode reads the values into dst, which has Size bytes, in the machine's byte order, as they are stored: with what
// stands above the highest bit, and below the lowest.
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
		return fmt.Errorf("%d bytes of memory for %d of values", len(dst), m.Size())
	}
	if again.syntax.rle {
		return p.unpack(dst, m.Bits/8)
	}
	if err := p.fill(dst); err != nil {
		return fmt.Errorf("PixelData: %w", err)
	}
	switch {
	case again.syntax.big && m.Bits == 8 && p.found.is("OW"):
		bulk.Swap(dst, 2) // bytes in words
	case again.syntax.big == bulk.LittleEndian():
		bulk.Swap(dst, m.Bits/8)
	}
	return nil
}
