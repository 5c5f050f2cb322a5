// Package nifti reads NIfTI-1 and NIfTI-2 images: single files (.nii), pairs of header and image (.hdr, .img), plain
// or compressed by gzip (.nii.gz, .hdr.gz, .img.gz), in either byte order.
//
// It follows nifti1.h and nifti2.h of the NIfTI Data Format Working Group. All axes are given as in the file, the
// fastest first; the world is RAS+: x grows to the patient's right, y to the front, z to the head.
package nifti

import (
	"io/fs"

	"gorgonia.org/tensor"
)

// An Image is an array with its header.
type Image struct {
	Header
	Dtype tensor.Dtype // the kind of an element
	Sizes []int        // the fastest axis first; before those of the header, the parts of a complex number or a color
	Data  []byte       // as stored, without slope and intercept; in the machine's byte order, aligned to 64 bytes
}

// ReadHeader reads the header of the named file, with its extensions. Either file of a pair may be named.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	panic("nifti: not there yet")
}

// Read reads the named file: its header and the data, which are in the other file of a pair. Data of more than limit
// bytes are an error, before anything is allocated for them; a limit of 0 is none.
//
// Memory grows with what is read: a header alone that promises much takes nothing.
//
// Complex numbers have an axis of 2 (real, imaginary) before the header's, RGB 3, RGBA 4. The types of 128-bit floats
// and of single bits are refused.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	panic("nifti: not there yet")
}
