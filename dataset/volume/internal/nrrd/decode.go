package nrrd

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// prefix is how many bytes may come before compressed data with byte skip -1. If the data are larger, it is their size.
const prefix = 1 << 20

// load reads all data.
func (h *Header) load(fsys fs.FS, total int64) ([]byte, error) {
	stored := h.stored(fsys)
	d := &decoder{Header: h}
	d.Want(total, h.likely(total, stored), stored)
	defer d.Close()
	n := h.files()
	for i := range n {
		name, err := h.file(i)
		if err != nil {
			return nil, err
		}
		if err := d.file(fsys, name, h.skip(i), total/n); err != nil {
			if h.DataFiles.Attached() {
				return nil, fmt.Errorf("data: %w", err)
			}
			return nil, fmt.Errorf("data file %s: %w", name, err)
		}
	}
	data := d.Filler.Bytes()
	if h.swapped() {
		bulk.Swap(data, h.Type.size())
	}
	return data, nil
}

// A decoder reads one data file after the other.
type decoder struct {
	*Header
	bulk.Filler
}

// file reads the size bytes of one data file.
func (d *decoder) file(fsys fs.FS, name string, skip, size int64) error {
	if err := d.Open(fsys, name); err != nil {
		return files.Cause(err)
	}
	src := d.Source
	if d.DataFiles.Attached() {
		if err := src.Skip(d.data); err != nil {
			return fmt.Errorf("byte %d: the header: %w", src.Offset(), err)
		}
	}
	for i := range d.LineSkip {
		if err := skipLine(src); err != nil {
			return fmt.Errorf("byte %d: line skip: line %d of %d: %w", src.Offset(), i+1, d.LineSkip, err)
		}
	}
	switch d.Encoding {
	case Gzip:
		z, err := bulk.NewGzip(src.Reader)
		if err != nil {
			return fmt.Errorf("byte %d: gzip: %w", src.Offset(), bulk.Unexpected(err))
		}
		return d.inflate(z, skip, size)
	case Bzip2:
		return d.inflate(bzip2.NewReader(src.Reader), skip, size)
	}
	if skip == -1 {
		if skip = src.Size() - src.Offset() - size; skip < 0 {
			return fmt.Errorf("byte skip -1: the data have %d bytes, but only %d are left", size, src.Size()-src.Offset())
		}
	}
	if err := src.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: byte skip %d: %w", src.Offset(), skip, err)
	}
	var r io.Reader = src
	switch d.Encoding {
	case ASCII:
		r = bulk.NewNumbers(src, d.Dtype().Type().Kind())
	case Hex:
		r = &hexadecimal{src: src}
	case ZRL:
		r = &zeroRuns{src: src}
	}
	return d.Take(r, size)
}

// inflate reads the size bytes of one compressed file, and checks its checksum.
func (d *decoder) inflate(r io.Reader, skip, size int64) error {
	if skip > 0 {
		b := budget.For(d.Size())
		if err := b.Work(skip / 2); err != nil { // a byte takes some nanoseconds
			return fmt.Errorf("byte skip: %w", err)
		}
		if n, err := io.CopyN(io.Discard, r, skip); err != nil {
			return fmt.Errorf("byte %d: byte skip: %d of %d bytes: %w", d.Offset(), n, skip, bulk.Unexpected(err))
		}
	}
	if skip == -1 {
		return d.last(r, size)
	}
	return d.TakeUnzipped(r, size)
}

// last takes the last size bytes of r.
func (d *decoder) last(r io.Reader, size int64) error {
	if err := d.Take(r, size); err != nil {
		return err
	}
	all := d.Filler.Bytes()
	ring := all[int64(len(all))-size:]
	at := 0 // the oldest byte
	for more := int64(0); ; {
		n, err := r.Read(ring[at:])
		at = (at + n) % len(ring)
		if more += int64(n); more > max(size, prefix) {
			return fmt.Errorf("byte %d: byte skip -1: more than %d bytes before the data", d.Offset(), max(size, prefix))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", d.Offset(), err)
		}
	}
	slices.Reverse(ring[:at])
	slices.Reverse(ring[at:])
	slices.Reverse(ring)
	return nil
}

// skipLine reads up to the end of a line.
func skipLine(src *bulk.Source) error {
	for {
		_, err := src.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		return bulk.Unexpected(err)
	}
}
