// Package metaimage reads MetaImage, the format of ITK: a text header and an array, in one file (.mha) or in several
// (.mhd and those that it names), plain, as text, or compressed by zlib or gzip.
//
// It follows the documents and the behaviour of Kitware's MetaIO, as SimpleITK 2.5 has it. All axes are given as in the
// file, the fastest first; the world is LPS: x grows to the patient's left, y to the back, z to the head.
package metaimage

import (
	"fmt"
	"io/fs"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is an array with its header.
type Image struct {
	Header
	Data []byte // in the machine's byte order, aligned to 64 bytes
}

// A Header holds the fields that describe the values and the geometry, and all others as text.
type Header struct {
	Dtype    tensor.Dtype
	Sizes    []int // the fastest axis first: x, y, z and up to seven more
	Channels int   // values of an element, which lie together

	Spacing    []float64   // per axis, from sample to sample, in Unit; positive
	Origin     []float64   // the world's position of the first sample's center, in Unit
	Directions [][]float64 // per axis, the world's vector along it; of the first three axes, where there are more
	Unit       string      // "mm", "cm", "um" or ""

	// Fields are all other fields, in the file's order.
	Fields []Field

	binary, big, compressed bool

	name      string // the header's file
	data      int64  // where LOCAL data begin
	skip      int64  // HeaderSize: bytes before the data of every file, or -1: all but the last ones
	dataFiles dataFiles
}

// A Field is a line of the header.
type Field struct{ Key, Value string }

// Shape is the extents of the decoded data, the fastest axis first: Sizes, and before it Channels if they are several.
func (h *Header) Shape() []int {
	if h.Channels == 1 {
		return append([]int(nil), h.Sizes...)
	}
	return append([]int{h.Channels}, h.Sizes...)
}

// Bytes is how many bytes the data have once decoded, or an error where that does not fit an int.
func (h *Header) Bytes() (int64, error) {
	n, ok := bulk.Size(int(h.Dtype.Size()), h.Shape())
	if !ok {
		return 0, fmt.Errorf("DimSize: %v elements of %d values are more than memory can hold", h.Sizes, h.Channels)
	}
	return n, nil
}

// ReadHeader reads the header of the named file. Data files are not looked at.
//
// Errors name data files, but not the file itself: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	return parse(src.Reader, name)
}

// Read reads the named file: its header and the data, which may be in other files. Data of more than limit bytes are an
// error before memory is allocated for them; 0 means no limit. Bytes after the data are ignored.
//
// Memory grows as data are read: what a header promises is not allocated beforehand.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	h, err := ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	n, err := h.Bytes()
	if err != nil {
		return nil, err
	}
	if limit > 0 && n > limit {
		return nil, fmt.Errorf("DimSize: %d bytes of data, the limit is %d", n, limit)
	}
	data, err := h.load(fsys, n)
	if err != nil {
		return nil, err
	}
	return &Image{*h, data}, nil
}
