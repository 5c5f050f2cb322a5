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

// World is "RAS": the world's axes point to the patient's right, front and head.
func (h *Header) World() string { return "RAS" }

// Affine is the matrix from indices to the world, in XYZUnit: the position of voxel (i, j, k) is
// affine · (i, j, k, 1)ᵀ. It is the sform if SformCode is positive, otherwise the qform if QformCode is (methods 3 and 2
// of nifti1.h). Without either the header has sizes but no position. Then, as in nibabel, the first axis runs to the left,
// the others run forward and up, and the middle of the image is the world's origin.
//
// axes is 0, 1, 2, with -1 for axes that the image does not have. ok is false if a number is not finite.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) {
	for i := range axes {
		if axes[i] = i; i >= len(h.Dim) {
			axes[i] = -1
		}
	}
	switch {
	case h.SformCode > 0:
		affine = h.Sform()
	case h.QformCode > 0:
		affine = h.Qform()
	default:
		affine = h.base()
	}
	for _, row := range affine {
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return affine, axes, false
			}
		}
	}
	return affine, axes, true
}

// base is the matrix of an image without a position: nibabel's shape_zoom_affine with x_flip.
func (h *Header) base() (m [4][4]float64) {
	for i, n := range h.Dim[:min(3, len(h.Dim))] {
		m[i][i] = h.step(i)
		if i == 0 {
			m[i][i] = -m[i][i]
		}
		m[i][3] = float64(n-1) / -2 * m[i][i]
	}
	for i := len(h.Dim); i < 3; i++ {
		m[i][i] = 1
	}
	m[3][3] = 1
	return m
}

// Sform is the matrix of Srow, for any SformCode.
func (h *Header) Sform() [4][4]float64 {
	return [4][4]float64{h.Srow[0], h.Srow[1], h.Srow[2], {0, 0, 0, 1}}
}

// Qform is the matrix of the quaternion, the steps and the offset, by method 2 of nifti1.h, for any QformCode. If the
// vector (b, c, d) is longer than 1, it is normalised, and a is 0.
func (h *Header) Qform() [4][4]float64 {
	b, c, d := h.Quatern[0], h.Quatern[1], h.Quatern[2]
	a := 1 - (b*b + c*c + d*d)
	if a < 1e-7 {
		l := 1 / math.Sqrt(b*b+c*c+d*d)
		a, b, c, d = 0, l*b, l*c, l*d
	} else {
		a = math.Sqrt(a)
	}
	rotation := [3][3]float64{
		{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c)},
		{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b)},
		{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c},
	}
	var m [4][4]float64
	for i, row := range rotation {
		m[i] = [4]float64{row[0] * h.step(0), row[1] * h.step(1), row[2] * h.step(2) * h.Qfac, h.Qoffset[i]}
	}
	m[3][3] = 1
	return m
}

// step is the distance between voxels along an axis. It is positive, and 1 if the header has none.
func (h *Header) step(axis int) float64 {
	if h.Pixdim[axis] == 0 {
		return 1
	}
	return math.Abs(h.Pixdim[axis])
}

// Spacing is the distance from sample to sample along every axis of Dim: Pixdim without its sign. For the first three axes
// it is the length of the column of Affine, if that is known and differs by more than the rounding of float32.
func (h *Header) Spacing() []float64 {
	affine, _, ok := h.Affine()
	spacing := make([]float64, len(h.Dim))
	for axis := range spacing {
		spacing[axis] = math.Abs(h.Pixdim[axis])
		if axis >= 3 || !ok {
			continue
		}
		if l := length(affine, axis); math.Abs(l-spacing[axis]) > 1e-5*l {
			spacing[axis] = l
		}
	}
	return spacing
}

// Origin is the centre of the first voxel in the world, or nil if it is not finite.
func (h *Header) Origin() []float64 {
	affine, _, ok := h.Affine()
	if !ok {
		return nil
	}
	return []float64{affine[0][3], affine[1][3], affine[2][3]}
}

// Directions is, for every axis of Dim, its unit vector in the world, or nil if it has none.
func (h *Header) Directions() [][]float64 {
	directions := make([][]float64, len(h.Dim))
	affine, _, ok := h.Affine()
	for axis := range min(3, len(directions)) {
		if l := length(affine, axis); ok && l > 0 {
			directions[axis] = []float64{affine[0][axis] / l, affine[1][axis] / l, affine[2][axis] / l}
		}
	}
	return directions
}

// length is the length of column c.
func length(m [4][4]float64, c int) float64 {
	return math.Hypot(math.Hypot(m[0][c], m[1][c]), m[2][c])
}
