package dicom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A tag is the numbers of a group and of an element in it.
type tag uint32

// The tags that are read, and those of the data set's structure. Source: PS3.6.
const (
	transferSyntax   tag = 0x0002_0010
	modality         tag = 0x0008_0060
	instanceUID      tag = 0x0008_0018
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

	item        tag = 0xfffe_e000
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
	modality: "Modality", instanceUID: "SOPInstanceUID", seriesText: "SeriesDescription", thickness: "SliceThickness",
	seriesUID: "SeriesInstanceUID", position: "ImagePositionPatient", orientation: "ImageOrientationPatient",
	frameOfReference: "FrameOfReferenceUID", samples: "SamplesPerPixel", photometric: "PhotometricInterpretation",
	frames: "NumberOfFrames", rows: "Rows", columns: "Columns", pixelSpacing: "PixelSpacing", bitsAllocated: "BitsAllocated",
	bitsStored: "BitsStored", highBit: "HighBit", representation: "PixelRepresentation", intercept: "RescaleIntercept",
	slope: "RescaleSlope", units: "Units",
}

// take sets the field of the element's value.
func (m *Image) take(t tag, value []byte, order binary.ByteOrder) (err error) {
	short := func() int {
		if len(value) != 2 {
			err = fmt.Errorf("%d bytes, want 2", len(value))
			return 0
		}
		return int(order.Uint16(value))
	}
	switch t {
	case modality:
		m.Modality = text(value)
	case instanceUID:
		m.Instance = text(value)
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
