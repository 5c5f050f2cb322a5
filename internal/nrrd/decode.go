package nrrd

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

const (
	window = 64 << 10 // bytes of a compressed file or a text that are read at a time
	prefix = 1 << 20  // bytes before compressed data that byte skip -1 passes over, or as many as the data have
)

// fill reads all data into b.
func (h *Header) fill(fsys fs.FS, b *bulk.Buffer, total int64) error {
	n := h.files()
	for i := range n {
		name, err := h.file(i)
		if err != nil {
			return err
		}
		if err := h.fillFrom(fsys, name, h.skip(i), b, total/n); err != nil {
			if h.DataFiles.Attached() {
				return fmt.Errorf("data: %w", err)
			}
			return fmt.Errorf("data file %s: %w", name, err)
		}
	}
	if h.swapped() {
		bulk.Swap(b.Bytes(), h.Type.size())
	}
	return nil
}

// fillFrom reads the size bytes of one data file.
func (h *Header) fillFrom(fsys fs.FS, name string, skip int64, b *bulk.Buffer, size int64) error {
	src, err := bulk.Open(fsys, name, window)
	if err != nil {
		return files.Cause(err)
	}
	defer src.Close()
	if h.DataFiles.Attached() {
		if err := src.Skip(h.data); err != nil {
			return fmt.Errorf("byte %d: the header: %w", src.Offset(), err)
		}
	}
	for i := range h.LineSkip {
		if err := skipLine(src); err != nil {
			return fmt.Errorf("byte %d: line skip: line %d of %d: %w", src.Offset(), i+1, h.LineSkip, err)
		}
	}
	if h.Encoding == Gzip || h.Encoding == Bzip2 {
		return h.inflate(src, skip, b, size)
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
	switch h.Encoding {
	case ASCII:
		r = &numbers{src: src, kind: h.Type}
	case Hex:
		r = &hexadecimal{src: src}
	case ZRL:
		r = &zeroRuns{src: src}
	}
	return h.exactly(b, r, size, src)
}

// inflate reads the size bytes of one compressed file, and to its end, which a checksum is at.
func (h *Header) inflate(src *bulk.Source, skip int64, b *bulk.Buffer, size int64) error {
	var r io.Reader
	if h.Encoding == Gzip {
		z, err := gzip.NewReader(src.Reader) // the library is faster on bufio's own type
		if err != nil {
			return fmt.Errorf("byte %d: gzip: %w", src.Offset(), full(err))
		}
		defer z.Close()
		r = z
	} else {
		r = bzip2.NewReader(src.Reader)
	}
	if skip >= 0 {
		if n, err := io.CopyN(io.Discard, r, skip); err != nil {
			return fmt.Errorf("byte %d: byte skip: %d of %d bytes: %w", src.Offset(), n, skip, full(err))
		}
		return h.exactly(b, r, size, src)
	}
	most := size + max(size, prefix)
	all := bulk.Growing(most, size)
	n, err := all.Fill(r, most)
	switch {
	case err == nil:
		end, err := bulk.Ended(r)
		if err != nil {
			return fmt.Errorf("byte %d: %w", src.Offset(), err)
		}
		if !end {
			return fmt.Errorf("byte %d: byte skip -1: more than %d bytes before the data", src.Offset(), most-size)
		}
	case !errors.Is(err, bulk.ErrShort):
		return fmt.Errorf("byte %d: %w", src.Offset(), err)
	case n < size:
		return fmt.Errorf("byte %d: the data end after %d of %d bytes", src.Offset(), n, size)
	}
	_, err = b.Fill(bytes.NewReader(all.Bytes()[n-size:]), size)
	return err
}

// exactly reads size bytes from r, which must have no more. Raw data may have a line end behind them.
func (h *Header) exactly(b *bulk.Buffer, r io.Reader, size int64, src *bulk.Source) error {
	n, err := b.Fill(r, size)
	if errors.Is(err, bulk.ErrShort) {
		return fmt.Errorf("byte %d: the data end after %d of %d bytes", src.Offset(), n, size)
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w, after %d of %d bytes", src.Offset(), err, n, size)
	}
	if h.Encoding == Raw {
		if rest, _ := src.Peek(3); string(rest) == "\n" || string(rest) == "\r\n" {
			return nil // what an editor or a shell leaves behind
		}
	}
	end := src.Offset()
	switch ended, err := bulk.Ended(r); {
	case err != nil:
		return fmt.Errorf("byte %d: %w, behind the data", end, err)
	case !ended:
		return fmt.Errorf("byte %d: more data follow the %d bytes that sizes ask for", end, size)
	}
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
