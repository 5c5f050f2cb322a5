package nrrd

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

const (
	window = 64 << 10 // bytes of a compressed file or a text that are read at a time
	prefix = 1 << 20  // bytes before compressed data that byte skip -1 passes over, or as many as the data have
)

// load reads all data.
func (h *Header) load(fsys fs.FS, total int64) ([]byte, error) {
	stored := h.stored(fsys)
	d := &decoder{Header: h, to: bulk.Growing(total, h.backed(total, stored)), stored: stored}
	d.to.Foresee(d.part)
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
	if h.swapped() {
		bulk.Swap(d.to.Bytes(), h.Type.size())
	}
	return d.to.Bytes(), nil
}

// A decoder reads one data file after the other.
type decoder struct {
	*Header
	to     *bulk.Buffer
	src    *bulk.Source // the file being read
	before int64        // bytes of the files before it
	stored int64        // bytes of all files
}

func (d *decoder) part() float64 {
	return float64(d.before+d.src.Offset()) / float64(max(d.stored, 1))
}

// file reads the size bytes of one data file.
func (d *decoder) file(fsys fs.FS, name string, skip, size int64) error {
	src, err := bulk.Open(fsys, name, window)
	if err != nil {
		return files.Cause(err)
	}
	defer src.Close()
	d.src = src
	defer func() { d.before += src.Size() }()
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
			return fmt.Errorf("byte %d: gzip: %w", src.Offset(), full(err))
		}
		return d.inflate(z, skip, size)
	case Bzip2:
		return d.inflate(bzip2.NewReader(src.Reader), skip, size)
	}
	if skip == -1 {
		if skip = src.Size() - src.Offset() - size; skip < 0 {
			return fmt.Errorf("byte skip -1: %d bytes are wanted, but only %d are left", size, src.Size()-src.Offset())
		}
	}
	if err := src.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: byte skip %d: %w", src.Offset(), skip, err)
	}
	var r io.Reader = src
	switch d.Encoding {
	case ASCII:
		r = &numbers{src: src, kind: d.Type}
	case Hex:
		r = &hexadecimal{src: src}
	case ZRL:
		r = &zeroRuns{src: src}
	}
	return d.fill(r, size)
}

// fill reads size bytes more from r.
func (d *decoder) fill(r io.Reader, size int64) error {
	n, err := d.to.Fill(r, size)
	if errors.Is(err, bulk.ErrShort) {
		return fmt.Errorf("byte %d: the data end after %d of %d bytes", d.src.Offset(), n, size)
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w, after %d of %d bytes", d.src.Offset(), err, n, size)
	}
	return nil
}

// inflate reads the size bytes of one compressed file, and on to its end, which a checksum is at.
func (d *decoder) inflate(r io.Reader, skip, size int64) error {
	if skip > 0 {
		if n, err := io.CopyN(io.Discard, r, skip); err != nil {
			return fmt.Errorf("byte %d: byte skip: %d of %d bytes: %w", d.src.Offset(), n, skip, full(err))
		}
	}
	if err := d.fill(r, size); err != nil {
		return err
	}
	if skip == -1 {
		return d.last(r, size)
	}
	if err := bulk.Finish(r, max(size, bulk.First)); err != nil {
		return fmt.Errorf("byte %d: %w, after the data", d.src.Offset(), full(err))
	}
	return nil
}

// last reads r to its end, so that the size bytes read last are the last ones of r.
func (d *decoder) last(r io.Reader, size int64) error {
	all := d.to.Bytes()
	ring := all[int64(len(all))-size:]
	at := 0 // the oldest byte
	for more := int64(0); ; {
		n, err := r.Read(ring[at:])
		at = (at + n) % len(ring)
		if more += int64(n); more > max(size, prefix) {
			return fmt.Errorf("byte %d: byte skip -1: more than %d bytes before the data", d.src.Offset(), max(size, prefix))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", d.src.Offset(), err)
		}
	}
	slices.Reverse(ring[:at])
	slices.Reverse(ring[at:])
	slices.Reverse(ring)
	return nil
}

// skipLine reads up to the end of a line, or of the file behind one.
func skipLine(src *bulk.Source) error {
	for {
		_, err := src.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		return full(err)
	}
}

// full is err, which is io.EOF where more was needed.
func full(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
