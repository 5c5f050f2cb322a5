package nrrd

import "gorgonia.org/tensor"

// A Type is the kind of an element, under the format's shortest unambiguous name.
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
	Hex   Encoding = "hex"   // two hexadecimal digits a byte
	Gzip  Encoding = "gzip"  // raw, compressed by gzip
	Bzip2 Encoding = "bzip2" // raw, compressed by bzip2
)

// An Endian is the byte order of elements that have more than one byte.
type Endian string

// The byte orders. A header need not have one where elements are single bytes or text.
const (
	Little Endian = "little"
	Big    Endian = "big"
)

// A Header holds every field of the format. A field that the file does not have is nil, zero or empty; where the format
// writes NaN, ??? or none for a single axis that is unknown, so is the axis here: NaN, "" or nil.
//
// Fields per axis have as many elements as there are axes, the fastest axis first.
type Header struct {
	Version int // the format's, 1 to 6

	Type      Type
	BlockSize int // bytes of an element of type block
	Sizes     []int
	Encoding  Encoding
	Endian    Endian

	Content        string
	Number         int64    // the number of elements
	Min, Max       *float64 // the values that black and white stand for
	OldMin, OldMax *float64 // the values that the smallest and largest stood for before quantization
	SampleUnits    string

	Spacings    []float64 // distance of samples along the axis
	Thicknesses []float64 // extent of what a sample stands for
	AxisMins    []float64 // position of the axis's beginning, by Centers
	AxisMaxs    []float64
	Centers     []string // "cell" or "node"
	Labels      []string
	Units       []string
	Kinds       []string // "domain", "vector", "RGB-color"…

	Space            string      // "left-posterior-superior"…, in full
	SpaceDimension   int         // of the world; given by Space or by itself
	SpaceUnits       []string    // per axis of the world
	SpaceOrigin      []float64   // the center of the first sample
	SpaceDirections  [][]float64 // per axis, the step from sample to sample; nil for an axis that is not spatial
	MeasurementFrame [][]float64 // columns of the matrix from measured vectors to the world

	DataFiles DataFiles
	LineSkip  int   // lines to skip in every data file, before decompression
	ByteSkip  int64 // bytes to skip in every data file, after decompression; -1: all but the last ones

	KeyValues []KeyValue // in the file's order
	Comments  []string   // without the marks

	name string // the header's file
	data int64  // where the data of an attached header begin
}

// A KeyValue is free text under a key.
type KeyValue struct{ Key, Value string }

// DataFiles says which files hold the data of a detached header: those of a list or, where Format is not empty, of a
// pattern. Without either the data follow the header.
type DataFiles struct {
	Names []string // paths relative to the header's folder

	Format         string // as of C's printf, with one integer
	Min, Max, Step int    // the integers

	// Subdim is how many axes one file spans. 0 stands for a single file that has them all, or for one slice each.
	Subdim int
}

// Attached reports whether the data follow the header in the same file.
func (d *DataFiles) Attached() bool { return d.Format == "" && len(d.Names) == 0 }

// Dtype is the kind of element that holds the type's values: Uint8 for blocks.
func (h *Header) Dtype() tensor.Dtype { return tensor.Uint8 }

// Bytes is how many bytes the data have once decoded, or an error where their product overflows.
func (h *Header) Bytes() (int64, error) { return 0, nil }

// Raw says where the data are if they are one stretch of uncompressed bytes in a single file: file is a path in the
// file system that the header came from, offset the first data byte there, or -1 if it is the file's size less the
// data's. Where swap is set, every element's bytes must be reversed.
func (h *Header) Raw() (file string, offset int64, swap, ok bool) { return "", 0, false, false }
