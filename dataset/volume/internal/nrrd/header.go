package nrrd

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// A Type is the type of an element, by its name in the format.
type Type string

// The types of elements.
const (
	Int8    Type = "int8"
	Uint8   Type = "uint8"
	Int16   Type = "int16"
	Uint16  Type = "uint16"
	Int32   Type = "int32"
	Uint32  Type = "uint32"
	Int64   Type = "int64"
	Uint64  Type = "uint64"
	Float32 Type = "float"
	Float64 Type = "double"
	Block   Type = "block" // opaque bytes, Header.BlockSize each
)

// An Encoding is how elements are written in a data file.
type Encoding string

// The encodings.
const (
	Raw   Encoding = "raw"   // as in memory
	ASCII Encoding = "ascii" // decimal numbers between white space
	Hex   Encoding = "hex"   // two hexadecimal digits per byte
	Gzip  Encoding = "gzip"  // raw, compressed by gzip
	Bzip2 Encoding = "bzip2" // raw, compressed by bzip2
	ZRL   Encoding = "zrl"   // raw, with runs of zeros replaced by their length; since version 6
)

// An Endian is the byte order of elements that have more than one byte.
type Endian string

// The byte orders. A header needs none if elements are single bytes, blocks or text.
const (
	Little Endian = "little"
	Big    Endian = "big"
)

// A Header holds every field of the format. A field that the file does not have is nil, zero or empty. Fields per axis
// have one element per axis, the fastest axis first. An axis whose value is unknown, which the format writes as NaN, ???
// or none, is NaN, "" or nil here.
type Header struct {
	// Version is the version in the first line, 1 to 6, or 0 for Teem's early NRRD00.01. As in Teem, files of older
	// versions may have newer fields.
	Version int

	Type      Type
	BlockSize int // bytes of an element of type block
	Sizes     []int
	Encoding  Encoding
	Endian    Endian

	Content        string
	Number         int64    // the number of elements
	Min, Max       *float64 // the values of black and white
	OldMin, OldMax *float64 // what the smallest and the largest value were before quantization
	SampleUnits    string

	Spacings    []float64 // distance between samples along the axis
	Thicknesses []float64 // extent of the region that a sample represents
	AxisMins    []float64 // position of the axis's beginning, by Centers
	AxisMaxs    []float64
	Centers     []string // "cell" or "node"
	Labels      []string
	Units       []string
	Kinds       []string // "domain", "vector", "RGB-color"…, synonyms resolved

	Space            string      // "left-posterior-superior"…, synonyms resolved
	SpaceDimension   int         // number of the world's axes, from Space or from a field of its own
	SpaceUnits       []string    // per axis of the world
	SpaceOrigin      []float64   // the centre of the first sample
	SpaceDirections  [][]float64 // per axis, the step from sample to sample; nil for an axis that is not spatial
	MeasurementFrame [][]float64 // columns of the matrix from measured vectors to the world

	DataFiles DataFiles
	LineSkip  int64 // lines to skip in every data file, before decompression
	ByteSkip  int64 // bytes to skip in every data file, after decompression; -1: all but the last ones

	KeyValues []KeyValue // in the file's order
	Comments  []string   // without the leading #

	name string // the header's file
	data int64  // offset of the data of an attached header
}

// A KeyValue is a text and its key.
type KeyValue struct{ Key, Value string }

// Value is the text of a key.
func (h *Header) Value(key string) (value string, ok bool) {
	for _, kv := range h.KeyValues {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

// Dtype is the dtype of the elements. It is Uint8 for blocks.
func (h *Header) Dtype() dataset.Dtype { return h.Type.dtype() }

// Shape is the shape of the decoded data, the fastest axis first. For blocks BlockSize is the first axis, before Sizes.
func (h *Header) Shape() []int {
	if h.Type != Block {
		return append([]int(nil), h.Sizes...)
	}
	return append([]int{h.BlockSize}, h.Sizes...)
}

// Bytes is the size of the decoded data in bytes. It is an error if that does not fit an int.
func (h *Header) Bytes() (int64, error) {
	n, ok := bulk.Size(h.element(), h.Sizes)
	if !ok {
		return 0, fmt.Errorf("sizes: %v elements of %d bytes are more than memory can hold", h.Sizes, h.element())
	}
	return n, nil
}

// element is the size of an element in bytes.
func (h *Header) element() int {
	if h.Type == Block {
		return h.BlockSize
	}
	return h.Type.size()
}

// swapped reports whether the data have another byte order than the machine.
func (h *Header) swapped() bool {
	return h.ordered() && (h.Endian == Little) != bulk.LittleEndian()
}

// ordered reports whether byte order matters.
func (h *Header) ordered() bool {
	return h.Type.size() > 1 && h.Encoding != ASCII
}

// check returns an error if fields are missing or do not agree with each other.
func (h *Header) check() error {
	switch {
	case h.Sizes == nil:
		return errors.New("dimension and sizes are missing")
	case h.Type == "":
		return errors.New("type is missing")
	case h.Encoding == "":
		return errors.New("encoding is missing")
	case h.Type == Block && h.BlockSize == 0:
		return errors.New("type: block needs a block size")
	case h.Type == Block && h.Encoding == ASCII:
		return errors.New("encoding: blocks cannot be text")
	case h.ordered() && h.Endian == "":
		return fmt.Errorf("endian is missing, type %s and encoding %s need it", h.Type, h.Encoding)
	case h.ByteSkip < 0 && (h.Encoding == ASCII || h.Encoding == Hex || h.Encoding == ZRL):
		return fmt.Errorf("byte skip: -1 has no meaning for encoding %s", h.Encoding)
	}
	n, err := h.Bytes()
	if err != nil {
		return err
	}
	if n /= int64(h.element()); h.Number != 0 && h.Number != n {
		return fmt.Errorf("number: %d, but sizes %v make %d", h.Number, h.Sizes, n)
	}
	for i, kind := range h.Kinds {
		if want := kindSize(kind); want != 0 && want != h.Sizes[i] {
			return fmt.Errorf("kinds: %s has size %d, but axis %d has %d", kind, want, i, h.Sizes[i])
		}
	}
	if err := h.checkSpacings(); err != nil {
		return err
	}
	return h.checkFiles()
}

// World names the directions of the world's axes, from Space: "RAS" (right, anterior, superior), "LPS" or "LAS". It is ""
// if the header has no Space, or if that is a scanner's or a Cartesian system.
func (h *Header) World() string {
	switch strings.TrimSuffix(h.Space, "-time") {
	case "right-anterior-superior":
		return "RAS"
	case "left-posterior-superior":
		return "LPS"
	case "left-anterior-superior":
		return "LAS"
	}
	return ""
}

// Affine is the matrix from indices to the world of World, in SpaceUnits: the position of sample (i, j, k) is
// affine · (i, j, k, 1)ᵀ. Here i, j and k are indices of the array's spatial axes, which are axes[0] to axes[2].
//
// The world must have three dimensions, apart from time, and the image two or three axes with space directions. Otherwise
// ok is false. For two axes axes[2] is -1, and the third column is the unit normal. Without SpaceOrigin the first sample
// is at 0.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) {
	axes = [3]int{-1, -1, -1}
	affine[3][3] = 1
	if h.SpaceDimension != 3 && !(h.SpaceDimension == 4 && strings.HasSuffix(h.Space, "-time")) {
		return affine, axes, false
	}
	n := 0
	for axis, d := range h.SpaceDirections {
		if d == nil || d[0] == 0 && d[1] == 0 && d[2] == 0 {
			continue
		}
		if n == 3 {
			return affine, axes, false
		}
		for row := range 3 {
			affine[row][n] = d[row]
		}
		axes[n] = axis
		n++
	}
	if n < 2 {
		return affine, axes, false
	}
	if n == 2 {
		a, b := column(affine, 0), column(affine, 1)
		normal := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
		for row, v := range normal {
			affine[row][2] = v / length(normal[:])
		}
	}
	for row := range min(3, len(h.SpaceOrigin)) {
		affine[row][3] = h.SpaceOrigin[row]
	}
	return affine, axes, true
}

// Spacing is the distance from sample to sample along every axis: the length of its space direction, otherwise its value
// in Spacings, otherwise NaN.
func (h *Header) Spacing() []float64 {
	spacing := make([]float64, len(h.Sizes))
	for axis := range spacing {
		spacing[axis] = math.NaN()
		if h.Spacings != nil {
			spacing[axis] = h.Spacings[axis]
		}
		if h.SpaceDirections != nil && h.SpaceDirections[axis] != nil {
			spacing[axis] = length(h.SpaceDirections[axis])
		}
	}
	return spacing
}

// Origin is the centre of the first sample in the world, or nil if the header has none.
func (h *Header) Origin() []float64 { return append([]float64(nil), h.SpaceOrigin...) }

// Directions is, for every axis, its unit vector in the world, or nil if it has none.
func (h *Header) Directions() [][]float64 {
	directions := make([][]float64, len(h.Sizes))
	for axis, d := range h.SpaceDirections {
		if l := length(d); l > 0 {
			directions[axis] = make([]float64, len(d))
			for i, v := range d {
				directions[axis][i] = v / l
			}
		}
	}
	return directions
}

// checkSpacings checks that spacings and space directions of the same axes agree to one thousandth. Some files have both,
// though the format does not allow it.
func (h *Header) checkSpacings() error {
	for axis, d := range h.SpaceDirections {
		if d == nil || h.Spacings == nil {
			continue
		}
		if l, s := length(d), math.Abs(h.Spacings[axis]); math.Abs(l-s) > 1e-3*l {
			return fmt.Errorf("spacings: %g on axis %d, but its space direction has length %g", s, axis, l)
		}
	}
	return nil
}

func column(m [4][4]float64, c int) [3]float64 { return [3]float64{m[0][c], m[1][c], m[2][c]} }

func length(v []float64) float64 {
	var l float64
	for _, x := range v {
		l = math.Hypot(l, x)
	}
	return l
}
