package dicom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

// A parser reads a data set, element by element.
type parser struct {
	budget.Budget
	src      *bulk.Source
	explicit bool
	buffer   [12]byte
	short    [maxValue]byte
}

// An element is a data element without its value.
type element struct {
	tag    tag
	vr     [2]byte // the value representation; zeros if implicit
	length uint32
}

// parse reads the file up to the values of PixelData, and returns their length.
func (m *Image) parse(src *bulk.Source) (length uint32, err error) {
	p := &parser{Budget: budget.For(src.Size()), src: src, explicit: true}
	var head [132]byte
	if _, err := io.ReadFull(src, head[:]); err != nil || string(head[128:]) != "DICM" {
		return 0, ErrNotDICOM
	}
	if err = p.meta(); err == nil {
		length, err = p.dataSet(m)
	}
	if err != nil {
		return 0, fmt.Errorf("byte %d: %w", src.Offset(), err)
	}
	return length, nil
}

// meta reads the file's meta information, which always has explicit VR. Then it switches to the file's transfer syntax.
func (p *parser) meta() error {
	uid := ""
	for {
		group, err := p.src.Peek(2)
		if err != nil || binary.LittleEndian.Uint16(group) != metaGroup {
			break
		}
		e, err := p.head()
		if err != nil {
			return err
		}
		if e.tag != transferSyntax {
			if err := p.skip(e); err != nil {
				return err
			}
			continue
		}
		value, err := p.value(e)
		if err != nil {
			return fmt.Errorf("TransferSyntaxUID: %w", err)
		}
		uid = text(value)
	}
	switch uid { // PS3.5, Annex A
	case "1.2.840.10008.1.2":
		p.explicit = false
	case "1.2.840.10008.1.2.1":
	default:
		return fmt.Errorf("TransferSyntaxUID: %.64q is not read: want uncompressed values in little endian", uid)
	}
	return nil
}

// dataSet reads elements up to the values of PixelData.
func (p *parser) dataSet(m *Image) (length uint32, err error) {
	for {
		e, err := p.head()
		if err == io.EOF {
			return 0, errors.New("PixelData is missing: the file has no image")
		}
		if err != nil {
			return 0, err
		}
		switch e.tag {
		case pixels:
			return e.length, nil
		case floatPixels, doublePixels:
			return 0, errors.New("PixelData is missing: floating-point pixel data are not read")
		}
		if name := names[e.tag]; name != "" {
			value, err := p.value(e)
			if err == nil {
				err = m.take(e.tag, value)
			}
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if err := p.skip(e); err != nil {
			return 0, err
		}
	}
}

// head reads an element up to its value. It returns io.EOF at the end of the data set.
func (p *parser) head() (e element, err error) {
	const steps = 10 // an element takes up to 100 ns
	if err := p.Work(steps); err != nil {
		return e, err
	}
	b := &p.buffer
	if _, err := io.ReadFull(p.src, b[:8]); err != nil {
		return e, err
	}
	e.tag = tag(binary.LittleEndian.Uint16(b[:]))<<16 | tag(binary.LittleEndian.Uint16(b[2:]))
	if !p.explicit || e.tag>>16 == delimiters {
		e.length = binary.LittleEndian.Uint32(b[4:])
		return e, nil
	}
	e.vr = [2]byte(b[4:6])
	if !e.explicit() {
		return e, fmt.Errorf("element %v: %q is not a value representation", e.tag, e.vr)
	}
	if !e.is("OB OD OF OL OV OW SQ SV UC UN UR UT UV") {
		e.length = uint32(binary.LittleEndian.Uint16(b[6:]))
		return e, nil
	}
	if _, err := io.ReadFull(p.src, b[8:]); err != nil {
		return e, bulk.Unexpected(err)
	}
	e.length = binary.LittleEndian.Uint32(b[8:])
	return e, nil
}

// explicit reports whether the element has a valid value representation.
func (e element) explicit() bool {
	return 'A' <= e.vr[0] && e.vr[0] <= 'Z' && 'A' <= e.vr[1] && e.vr[1] <= 'Z'
}

// is reports whether the value representation is one of those in list.
func (e element) is(list string) bool { return strings.Contains(list, string(e.vr[:])) }

// value reads a short value, which is valid until the next one is read.
func (p *parser) value(e element) ([]byte, error) {
	if e.length > maxValue {
		return nil, fmt.Errorf("a value of %d bytes, want at most %d", e.length, maxValue)
	}
	if err := p.Memory(int64(e.length)); err != nil {
		return nil, err
	}
	b := p.short[:e.length]
	_, err := io.ReadFull(p.src, b)
	return b, bulk.Unexpected(err)
}

// skip skips a value. If its length is undefined, it skips the elements in it up to the delimiter.
func (p *parser) skip(e element) error {
	if e.length != undefined {
		return p.src.Skip(int64(e.length))
	}
	// Every delimiter ends the innermost open item or sequence, so their number is enough.
	explicit, implicitFrom := p.explicit, 0
	open := 1
	if e.is("UN") { // its content has implicit VR: PS3.5, section 6.2.2
		p.explicit, implicitFrom = false, 1
	}
	for open > 0 {
		e, err := p.head()
		if err != nil {
			return bulk.Unexpected(err)
		}
		switch {
		case e.tag == itemEnd || e.tag == sequenceEnd:
			if e.length != 0 {
				return fmt.Errorf("a delimiter of %d bytes, want 0", e.length)
			}
			if open == implicitFrom {
				p.explicit, implicitFrom = explicit, 0
			}
			open--
		case e.length == undefined:
			open++
			if e.is("UN") && implicitFrom == 0 {
				p.explicit, implicitFrom = false, open
			}
		default:
			if err := p.src.Skip(int64(e.length)); err != nil {
				return err
			}
		}
	}
	p.explicit = explicit
	return nil
}

// A tag is the numbers of a group and of an element in it.
type tag uint32

// The tags that are read, and those of the data set's structure. Source: PS3.6.
const (
	transferSyntax   tag = 0x0002_0010
	modality         tag = 0x0008_0060
	seriesText       tag = 0x0008_103e
	thickness        tag = 0x0018_0050
	seriesUID        tag = 0x0020_000e
	position         tag = 0x0020_0032
	orientation      tag = 0x0020_0037
	frameOfReference tag = 0x0020_0052
	samples          tag = 0x0028_0002
	photometric      tag = 0x0028_0004
	frames           tag = 0x0028_0008
	rows             tag = 0x0028_0010
	columns          tag = 0x0028_0011
	pixelSpacing     tag = 0x0028_0030
	bitsAllocated    tag = 0x0028_0100
	bitsStored       tag = 0x0028_0101
	highBit          tag = 0x0028_0102
	representation   tag = 0x0028_0103
	intercept        tag = 0x0028_1052
	slope            tag = 0x0028_1053
	units            tag = 0x0054_1001
	floatPixels      tag = 0x7fe0_0008
	doublePixels     tag = 0x7fe0_0009
	pixels           tag = 0x7fe0_0010

	itemEnd     tag = 0xfffe_e00d
	sequenceEnd tag = 0xfffe_e0dd
)

const (
	metaGroup  = 0x0002         // the group of the file's meta information
	delimiters = 0xfffe         // the group of items and delimiters
	undefined  = math.MaxUint32 // undefined length: a delimiter ends the value

	maxValue = 1 << 10 // bytes of a value that is read
)

// String is the tag as the standard writes it.
func (t tag) String() string { return fmt.Sprintf("(%04x,%04x)", uint32(t)>>16, uint32(t)&0xffff) }

// names are the elements that are read.
var names = map[tag]string{
	modality: "Modality", seriesText: "SeriesDescription", thickness: "SliceThickness",
	seriesUID: "SeriesInstanceUID", position: "ImagePositionPatient", orientation: "ImageOrientationPatient",
	frameOfReference: "FrameOfReferenceUID", samples: "SamplesPerPixel", photometric: "PhotometricInterpretation",
	frames: "NumberOfFrames", rows: "Rows", columns: "Columns", pixelSpacing: "PixelSpacing", bitsAllocated: "BitsAllocated",
	bitsStored: "BitsStored", highBit: "HighBit", representation: "PixelRepresentation", intercept: "RescaleIntercept",
	slope: "RescaleSlope", units: "Units",
}

// take sets the field of the element's value.
func (m *Image) take(t tag, value []byte) (err error) {
	short := func() int {
		if len(value) != 2 {
			err = fmt.Errorf("%d bytes, want 2", len(value))
			return 0
		}
		return int(binary.LittleEndian.Uint16(value))
	}
	switch t {
	case modality:
		m.Modality = text(value)
	case seriesText:
		m.Description = text(value)
	case seriesUID:
		m.Series = text(value)
	case frameOfReference:
		m.FrameOfReference = text(value)
	case units:
		m.Units = text(value)
	case thickness:
		m.Thickness, err = number(value)
	case position:
		m.Position, err = numbers(value, 3)
	case orientation:
		m.Orientation, err = numbers(value, 6)
	case pixelSpacing:
		m.Spacing, err = numbers(value, 2)
	case samples:
		if n := short(); err == nil && n != 1 {
			err = fmt.Errorf("%d values per pixel: only one is read", n)
		}
	case photometric:
		// For MONOCHROME1 some readers, ITK for example, invert the values.
		if s := text(value); s != "MONOCHROME2" {
			err = fmt.Errorf("%.20q is not read: want MONOCHROME2", s)
		}
	case frames:
		if s := text(value); s != "" && s != "1" {
			err = fmt.Errorf("%.20q: only files of one frame are read", s)
		}
	case rows:
		m.Rows = short()
	case columns:
		m.Columns = short()
	case bitsAllocated:
		m.Bits = short()
	case bitsStored:
		m.Stored = short()
	case highBit:
		m.High = short()
	case representation:
		m.Signed = short() == 1
	case intercept:
		m.Intercept, err = number(value)
	case slope:
		if text(value) == "" {
			break
		}
		if m.Slope, err = number(value); err == nil && m.Slope == 0 {
			err = errors.New("it is 0")
		}
	}
	return err
}

// text is a value without padding.
func text(value []byte) string { return string(bytes.Trim(value, " \x00")) }

// number reads a decimal string. An empty one is 0.
func number(value []byte) (float64, error) {
	if text(value) == "" {
		return 0, nil
	}
	v, err := numbers(value, 1)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// numbers reads n decimal strings. It returns nil for an empty value.
func numbers(value []byte, n int) ([]float64, error) {
	if text(value) == "" {
		return nil, nil
	}
	words := strings.Split(text(value), `\`)
	if len(words) != n {
		return nil, fmt.Errorf("%d numbers, want %d", len(words), n)
	}
	v := make([]float64, n)
	for i, word := range words {
		x, err := strconv.ParseFloat(strings.Trim(word, " \x00"), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%.40q is not a finite number", word)
		}
		v[i] = x
	}
	return v, nil
}
