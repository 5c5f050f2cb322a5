// Package metaimage reads MetaImage, the format of ITK: a text header and an array. They are in one file (.mha) or in
// several (.mhd and the files that it names). The array is binary, text, or compressed by zlib or gzip.
//
// It follows the documentation and the behaviour of Kitware's MetaIO, in the version of SimpleITK 2.5. All axes are in the
// file's order, the fastest first. The world is LPS: x grows to the patient's left, y to the back, z to the head.
package metaimage

import (
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
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
	Dtype    dataset.Dtype
	Sizes    []int // the fastest axis first: x, y, z and up to seven more
	Channels int   // values per element, which are adjacent in memory

	Spacing    []float64   // per axis: the distance from sample to sample, in Unit; positive
	Origin     []float64   // the centre of the first sample in the world, in Unit; at most three coordinates
	Directions [][]float64 // for the first three axes at most: the direction of the axis in the world
	Unit       string      // "mm", "cm", "um" or ""

	// Fields are all other fields, in the file's order.
	Fields []Field

	binary, big, compressed bool

	name      string // the header's file
	data      int64  // offset of LOCAL data
	skip      int64  // HeaderSize: bytes before the data of every file; -1: the data are at the file's end
	dataFiles dataFiles
}

// A Field is a line of the header.
type Field struct{ Key, Value string }

// Shape is the shape of the decoded data, the fastest axis first. If there are several channels, Channels is the first
// axis, before Sizes.
func (h *Header) Shape() []int {
	if h.Channels == 1 {
		return append([]int(nil), h.Sizes...)
	}
	return append([]int{h.Channels}, h.Sizes...)
}

// Bytes is the size of the decoded data in bytes. It is an error if that does not fit an int.
func (h *Header) Bytes() (int64, error) {
	n, ok := bulk.Size(h.Dtype.Size(), h.Shape())
	if !ok {
		return 0, fmt.Errorf("DimSize: %v elements of %d values are more than memory can hold", h.Sizes, h.Channels)
	}
	return n, nil
}

// ReadHeader reads the header of the named file. It does not open data files.
//
// Errors name data files, but not the file itself: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	return parse(src.Reader, src.Size(), name)
}

// Read reads the header and the data, which may be in other files. Data of more than limit bytes are an error before
// memory is allocated for them. A limit of 0 means no limit. Bytes after the data are ignored.
//
// Memory grows as data are read, not by the sizes in the header alone.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	h, err := ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	data, err := bulk.Load(h, "DimSize", limit, func(size int64) ([]byte, error) { return h.load(fsys, size) })
	if err != nil {
		return nil, err
	}
	return &Image{*h, data}, nil
}

// geometry sets Spacing, Origin and Directions as ITK does. A negative spacing reverses its axis. A missing spacing is 1,
// and a missing origin is 0.
func (p *parser) geometry() error {
	h, n := p.h, len(p.h.Sizes)
	if h.Spacing == nil {
		h.Spacing = p.size
	}
	if h.Spacing == nil {
		h.Spacing = slices.Repeat([]float64{1}, n)
	}
	if h.Origin == nil {
		h.Origin = make([]float64, n)
	}
	if p.matrix == nil {
		p.matrix = make([]float64, n*n)
		for i := range n {
			p.matrix[i*n+i] = 1
		}
	}
	world := min(n, 3)
	for i := range n {
		d := slices.Clone(p.matrix[i*n : (i+1)*n])
		if h.Spacing[i] == 0 {
			return fmt.Errorf("ElementSpacing: axis %d: it is 0", i)
		}
		if h.Spacing[i] < 0 {
			h.Spacing[i] = -h.Spacing[i]
			for k := range d {
				d[k] = -d[k]
			}
		}
		for k, x := range d {
			if (i < world) != (k < world) && x != 0 {
				return fmt.Errorf("TransformMatrix: axis %d mixes spatial and other axes", i)
			}
		}
		if i < world {
			h.Directions = append(h.Directions, d[:world])
		}
	}
	h.Origin = h.Origin[:world]
	if !independent(h.Directions) {
		return fmt.Errorf("TransformMatrix: the axes %v do not span the space", h.Directions)
	}
	return nil
}

// independent reports whether one, two or three vectors span a space of that dimension.
func independent(v [][]float64) bool {
	det := 0.0
	switch len(v) {
	case 1:
		det = v[0][0]
	case 2:
		det = v[0][0]*v[1][1] - v[0][1]*v[1][0]
	case 3:
		for k := range 3 {
			a, b := (k+1)%3, (k+2)%3
			det += v[0][k] * (v[1][a]*v[2][b] - v[1][b]*v[2][a])
		}
	}
	return math.Abs(det) > 1e-12
}
