package nifti

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// A Header holds the fields of a NIfTI-1 or NIfTI-2 header, with NIfTI-2's types. The unused fields of Analyze 7.5
// (data_type, db_name, extents, session_error, regular, glmax, glmin) are not kept.
type Header struct {
	Version   int  // 1 or 2
	BigEndian bool // the file's byte order

	Dim      []int // extents, the fastest axis first: x, y, z, t and up to three more
	Datatype Datatype
	Bitpix   int // bits of an element, or 0

	Pixdim    [7]float64 // step along x, y, z, t…, in XYZUnit and TimeUnit; Dim may have fewer axes
	Qfac      float64    // -1 if the third axis of the quaternion's frame is reversed, otherwise 1
	Quatern   [3]float64 // b, c, d
	Qoffset   [3]float64 // the centre of the first voxel in the world, by the qform
	QformCode int
	Srow      [3][4]float64 // rows of the sform's matrix
	SformCode int

	SclSlope, SclInter float64 // as stored; see Scale
	CalMin, CalMax     float64 // the values to be shown as black and white

	IntentCode int
	IntentP    [3]float64
	IntentName string

	XYZUnit  string // "m", "mm", "um" or ""
	TimeUnit string // "s", "ms", "us", "Hz", "ppm", "rad/s" or ""
	Units    int    // xyzt_units, the source of both

	FreqDim, PhaseDim, SliceDim int // the axes of frequency, phase and slice encoding, from 1; 0 if unknown
	SliceCode                   int
	SliceStart, SliceEnd        int
	SliceDuration, Toffset      float64 // in TimeUnit

	Descrip, AuxFile string

	Extensions []Extension

	file   string // the file of the data
	offset int64  // of the data in the uncompressed file
	pair   bool   // header and data are two files
}

// An Extension is a block of data between header and data that a program defines for itself.
type Extension struct {
	Code int // registered code of the program
	Data []byte
}

// A Datatype is the type of an element, by its number in the format.
type Datatype int

// The datatypes.
const (
	Binary     Datatype = 1 // single bits
	Uint8      Datatype = 2
	Int16      Datatype = 4
	Int32      Datatype = 8
	Float32    Datatype = 16
	Complex64  Datatype = 32
	Float64    Datatype = 64
	RGB24      Datatype = 128
	Int8       Datatype = 256
	Uint16     Datatype = 512
	Uint32     Datatype = 768
	Int64      Datatype = 1024
	Uint64     Datatype = 1280
	Float128   Datatype = 1536
	Complex128 Datatype = 1792
	Complex256 Datatype = 2048
	RGBA32     Datatype = 2304
)

// element is the number of parts of an element, their dtype, and the datatype's name. Parts is 0 if the datatype is not
// supported.
func (d Datatype) element() (dtype dataset.Dtype, parts int, name string) {
	switch d {
	case Uint8:
		return dataset.Uint8, 1, "uint8"
	case Int16:
		return dataset.Int16, 1, "int16"
	case Int32:
		return dataset.Int32, 1, "int32"
	case Float32:
		return dataset.Float32, 1, "float32"
	case Complex64:
		return dataset.Float32, 2, "complex64"
	case Float64:
		return dataset.Float64, 1, "float64"
	case RGB24:
		return dataset.Uint8, 3, "RGB24"
	case Int8:
		return dataset.Int8, 1, "int8"
	case Uint16:
		return dataset.Uint16, 1, "uint16"
	case Uint32:
		return dataset.Uint32, 1, "uint32"
	case Int64:
		return dataset.Int64, 1, "int64"
	case Uint64:
		return dataset.Uint64, 1, "uint64"
	case Complex128:
		return dataset.Float64, 2, "complex128"
	case RGBA32:
		return dataset.Uint8, 4, "RGBA32"
	case Binary:
		return dataset.Uint8, 0, "binary"
	case Float128:
		return dataset.Uint8, 0, "float128"
	case Complex256:
		return dataset.Uint8, 0, "complex256"
	}
	return dataset.Uint8, 0, "unknown"
}

// String is the datatype's name in the NIfTI documentation.
func (d Datatype) String() string {
	_, _, name := d.element()
	return name
}

// Dtype is the dtype of the values. For complex numbers and colours it is the dtype of the parts.
func (h *Header) Dtype() dataset.Dtype {
	dtype, _, _ := h.Datatype.element()
	return dtype
}

// Shape is the shape of the decoded data, the fastest axis first. For complex numbers and colours the number of parts is
// the first axis, before Dim.
func (h *Header) Shape() []int {
	if _, parts, _ := h.Datatype.element(); parts > 1 {
		return append([]int{parts}, h.Dim...)
	}
	return append([]int(nil), h.Dim...)
}

// Bytes is the size of the decoded data in bytes. It is an error if that does not fit an int.
func (h *Header) Bytes() (int64, error) {
	dtype, parts, _ := h.Datatype.element()
	n, ok := bulk.Size(parts*dtype.Size(), h.Dim)
	if !ok {
		return 0, fmt.Errorf("dim: %v elements of type %v are more than memory can hold", h.Dim, h.Datatype)
	}
	return n, nil
}

// Scale is the scaling of stored values: v means slope·v + inter. It is 1 and 0 if SclSlope is 0 or not finite.
func (h *Header) Scale() (slope, inter float64) {
	if s := h.SclSlope; s == 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return 1, 0
	}
	if i := h.SclInter; math.IsNaN(i) || math.IsInf(i, 0) {
		return h.SclSlope, 0
	}
	return h.SclSlope, h.SclInter
}

// swapped reports whether the file has another byte order than the machine.
func (h *Header) swapped() bool {
	return h.Dtype().Size() > 1 && h.BigEndian == bulk.LittleEndian()
}
