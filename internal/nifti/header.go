package nifti

import (
	"io/fs"

	"gorgonia.org/tensor"
)

// A Header holds the fields of a NIfTI-1 or -2 header, widened to NIfTI-2's types.
type Header struct {
	Version   int  // 1 or 2
	BigEndian bool // the file's byte order

	Dim      []int // extents, the fastest axis first: x, y, z, t and up to three more
	Datatype Datatype
	Bitpix   int

	Pixdim    []float64  // step along every axis of Dim, in XYZUnit and TimeUnit
	Qfac      float64    // -1 or 1: whether the third axis of the quaternion's frame is reversed
	Quatern   [3]float64 // b, c, d
	Qoffset   [3]float64 // the world's position of the first voxel's center, by the qform
	QformCode int
	Srow      [3][4]float64 // rows of the sform's matrix
	SformCode int

	SclSlope, SclInter float64 // what a stored value v stands for: SclSlope·v + SclInter, unless the slope is 0
	CalMin, CalMax     float64 // the values to show as black and white

	IntentCode int
	IntentP    [3]float64
	IntentName string

	XYZUnit  string // "m", "mm", "um" or ""
	TimeUnit string // "s", "ms", "us", "Hz", "ppm", "rad/s" or ""
	Units    int    // xyzt_units as stored

	FreqDim, PhaseDim, SliceDim int // the axes of frequency, phase and slice encoding, from 1; 0 if unknown
	SliceCode                   int
	SliceStart, SliceEnd        int
	SliceDuration, Toffset      float64 // in TimeUnit

	Descrip, AuxFile string

	Extensions []Extension

	file   string // that of the data
	offset int64  // of the data there
}

// An Extension is a block of data of some program's own, between header and data.
type Extension struct {
	Code int // who defined it
	Data []byte
}

// A Datatype is the kind of an element, by its number in the format.
type Datatype int

// Dtype is the kind of element that holds the datatype's values: of the parts, for complex numbers and colors.
func (h *Header) Dtype() tensor.Dtype { return tensor.Uint8 }

// Bytes is how many bytes the data have once decoded, or an error where their product overflows.
func (h *Header) Bytes() (int64, error) { return 0, nil }

// Decode reads the data of the file whose header is h into dst, which holds exactly as many bytes as they take.
func (h *Header) Decode(fsys fs.FS, dst []byte) error {
	panic("nifti: not there yet")
}

// Raw says where the data are if they are not compressed: file is a path in the file system that the header came from,
// offset the first data byte there. Where swap is set, every element's bytes must be reversed.
func (h *Header) Raw() (file string, offset int64, swap, ok bool) { return "", 0, false, false }
