package metaimage

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/inflate"
)

// load reads all data, which have size bytes.
func (h *Header) load(fsys fs.FS, size int64) ([]byte, error) {
	var f bulk.Filler
	defer f.Close()
	h.want(fsys, &f, size)
	n := max(h.dataFiles.count, 1)
	for i := range n {
		name, err := h.dataFiles.file(i, h.name)
		if err != nil {
			return nil, err
		}
		if err := h.take(fsys, &f, name, size/n); err != nil {
			if h.dataFiles.local() {
				return nil, fmt.Errorf("data: %w", err)
			}
			return nil, fmt.Errorf("data file %s: %w", name, err)
		}
	}
	data := f.Bytes()
	if h.big == bulk.LittleEndian() && h.binary {
		bulk.Swap(data, h.Dtype.Size())
	}
	return data, nil
}

// want allocates as much memory as to expect from the files' sizes.
func (h *Header) want(fsys fs.FS, f *bulk.Filler, size int64) {
	const asked = 4096 // files
	stored := int64(0)
	for i := range min(asked, max(h.dataFiles.count, 1)) {
		name, err := h.dataFiles.file(i, h.name)
		if err != nil {
			break
		}
		info, err := fs.Stat(fsys, name)
		if err != nil {
			break
		}
		stored += info.Size()
	}
	likely := stored
	switch {
	case h.compressed:
		likely = bulk.Unzipped(size, stored)
	case !h.binary:
		likely = 4 * min(stored, 1<<50) // two characters, a digit and a space, can be a float64
	}
	f.Want(size, likely, stored)
}

// take reads the size bytes of one data file.
func (h *Header) take(fsys fs.FS, f *bulk.Filler, name string, size int64) error {
	if err := f.Open(fsys, name); err != nil {
		return files.Cause(err)
	}
	skip := h.skip
	switch {
	case skip == -1:
		if skip = f.Size() - size; skip < 0 {
			return fmt.Errorf("HeaderSize: -1: the data have %d bytes, but the file has %d", size, f.Size())
		}
	case skip == 0 && h.dataFiles.local():
		skip = h.data
	}
	if err := f.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: %d bytes before the data: %w", f.Offset(), skip, bulk.Unexpected(err))
	}
	switch {
	case h.compressed:
		z, err := decompressed(f.Source)
		if err != nil {
			return fmt.Errorf("byte %d: %w", f.Offset(), bulk.Unexpected(err))
		}
		return f.TakeUnzipped(z, size)
	case !h.binary:
		return f.Take(bulk.NewNumbers(f.Source, h.Dtype.Type().Kind()), size)
	}
	return f.Take(f.Source, size)
}

// decompressed decompresses gzip or zlib. It recognises gzip by the first byte, as zlib does for MetaIO.
func decompressed(src *bulk.Source) (io.Reader, error) {
	if magic, err := src.Peek(1); err == nil && magic[0] == 0x1f {
		return bulk.NewGzip(src.Reader)
	}
	z := new(inflate.Reader)
	return z, z.ResetZlib(src.Reader)
}
