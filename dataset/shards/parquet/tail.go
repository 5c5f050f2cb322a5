package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset/objects"
)

const (
	magic    = "PAR1"    // at the beginning and at the end of a file
	tailSize = 128 << 10 // bytes of a file's end that are read first
	maxTail  = 64 << 20  // bytes of a footer, and of a page index
	tailEnd  = 4 + len(magic)
)

// A file reads the end of an object.
type file struct {
	ctx    context.Context
	store  objects.Store
	object objects.Object
	off    int64 // of tail
	tail   []byte
}

// read returns n bytes from byte off on, which must be within the object.
func (f *file) read(off, n int64) ([]byte, error) {
	if off >= f.off && f.tail != nil {
		return f.tail[off-f.off:][:n:n], nil
	}
	data := make([]byte, n)
	return data, f.store.ReadAt(f.ctx, f.object, data, off)
}

// footer reads the metadata.
func (f *file) footer() (_ *footer, err error) {
	size := f.object.Size
	if size < int64(len(magic)+tailEnd) {
		return nil, fmt.Errorf("want a Parquet file: it has %d bytes", size)
	}
	n := min(size, tailSize)
	if f.tail, err = f.read(size-n, n); err != nil {
		return nil, err
	}
	f.off = size - n
	end := f.tail[n-int64(tailEnd):]
	switch {
	case string(end[4:]) == "PARE":
		return nil, errors.New("the file is encrypted")
	case string(end[4:]) != magic:
		return nil, errors.New("want a Parquet file: it does not end as one")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-int64(len(magic)+tailEnd) || length > maxTail {
		return nil, fmt.Errorf("metadata of %d bytes in a file of %d", length, size)
	}
	data, err := f.read(size-int64(tailEnd)-length, length)
	if err != nil {
		return nil, err
	}
	return parseFooter(data)
}
