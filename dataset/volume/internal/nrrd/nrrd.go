// Package nrrd reads and writes the NRRD format of Teem, versions 1 to 6: a text header and an array of up to 16
// dimensions, in one file or in several.
//
// It follows Teem's "Definition of NRRD File Format" (teem.sourceforge.net/nrrd/format.html). No part of a header is
// ignored: a field that is unknown, repeated, out of order or in conflict with another one is an error that names the line
// and the field. All axes are in the file's order, the fastest first.
package nrrd

import (
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is an array with its header.
type Image struct {
	Header
	Dtype dataset.Dtype // of an element; uint8 for blocks
	Sizes []int         // the shape of Data, as [Header.Shape] gives it
	Data  []byte        // in the machine's byte order, aligned to 64 bytes
}

// ReadHeader reads the header of the named file, attached or detached. It does not open data files.
//
// Errors name data files, but not the file itself: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	h, err := parse(src.Reader, src.Size())
	if err != nil {
		return nil, err
	}
	h.name = name
	return h, h.checkFiles()
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
	n, err := h.Bytes()
	if err != nil {
		return nil, err
	}
	if limit > 0 && n > limit {
		return nil, fmt.Errorf("sizes: %d bytes of data, the limit is %d", n, limit)
	}
	data, err := h.load(fsys, n)
	if err != nil {
		return nil, err
	}
	return &Image{Header: *h, Dtype: h.Dtype(), Sizes: h.Shape(), Data: data}, nil
}

// stored is the size in bytes of all data files that can be found.
func (h *Header) stored(fsys fs.FS) (n int64) {
	const asked = 4096 // files
	for i := range min(h.files(), asked) {
		name, err := h.file(i)
		if err != nil {
			break
		}
		info, err := fs.Stat(fsys, name)
		if err != nil {
			break
		}
		n += info.Size()
	}
	return n
}

// likely is the expected size of the decoded data, from the size of the files.
func (h *Header) likely(promised, stored int64) int64 {
	switch h.Encoding {
	case Gzip, Bzip2:
		return bulk.Unzipped(promised, stored)
	case ASCII:
		return 4 * min(stored, 1<<50) // two characters, a digit and a space, can be a float64
	}
	return stored
}
