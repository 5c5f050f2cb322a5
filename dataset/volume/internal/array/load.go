package array

import (
	"bufio"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/inflate"
)

const maxInt = math.MaxInt

// Load reads the values, in the machine's byte order and aligned to 64 bytes. More than limit bytes are an error before
// memory is allocated for them; 0 means no limit. Bytes after the values are ignored.
//
// Memory grows as values are read, not by the sizes in the header alone.
func (h *Header) Load(ctx context.Context, fsys fs.FS, limit int64) ([]byte, error) {
	size, err := h.Bytes()
	if err != nil {
		return nil, err
	}
	if limit > 0 && size > limit {
		return nil, fmt.Errorf("%d bytes of values, the limit is %d", size, limit)
	}
	var f bulk.Filler
	defer f.Close()
	if err = f.Open(ctx, fsys, h.File); err != nil {
		err = files.Cause(err)
	} else {
		f.Want(size, h.likely(size, f.Size()), f.Size())
		err = h.take(&f, size)
	}
	if err != nil && h.Own {
		return nil, fmt.Errorf("data: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("data file %s: %w", h.File, err)
	}
	data := f.Bytes()
	if h.Encoding != Text && h.Big == bulk.LittleEndian() {
		bulk.Swap(data, h.Dtype.Size())
	}
	return data, nil
}

// likely is the expected size of the values, from the size of the file.
func (h *Header) likely(size, stored int64) int64 {
	switch h.Encoding {
	case Gzip, Bzip2:
		return bulk.Unzipped(size, stored)
	case Text:
		return 4 * min(stored, 1<<50) // two characters, a digit and a space, can be a float64
	}
	return stored
}

// take reads the size bytes of the open file.
func (h *Header) take(f *bulk.Filler, size int64) error {
	if err := f.Skip(h.Offset); err != nil {
		return fmt.Errorf("byte %d: %d bytes before the values: %w", f.Offset(), h.Offset, err)
	}
	for i := range h.Lines {
		if err := skipLine(f.Source); err != nil {
			return fmt.Errorf("byte %d: line %d of %d before the values: %w", f.Offset(), i+1, h.Lines, err)
		}
	}
	if h.Encoding == Gzip || h.Encoding == Bzip2 {
		return h.unzip(f, size)
	}
	skip := h.Skip
	if skip == -1 {
		if skip = f.Size() - f.Offset() - size; skip < 0 {
			return fmt.Errorf("the last %d bytes of a file that has %d", size, f.Size()-f.Offset())
		}
	}
	if err := f.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: %d bytes before the values: %w", f.Offset(), skip, err)
	}
	if h.Encoding == Text {
		return f.Take(bulk.NewNumbers(f.Source, h.Dtype.Type().Kind()), size)
	}
	return f.Take(f.Source, size)
}

// unzip reads the size bytes of one compressed file, and checks its checksum.
func (h *Header) unzip(f *bulk.Filler, size int64) error {
	r, err := h.decompressed(f.Source)
	if err == nil && h.Skip < 0 {
		err = errors.New("the last bytes of compressed data are not read")
	}
	if err == nil {
		b := budget.For(f.Size())
		if err = b.Work(h.Skip / 2); err == nil { // a byte takes some nanoseconds
			_, err = io.CopyN(io.Discard, r, h.Skip)
		}
	}
	if err != nil {
		return fmt.Errorf("byte %d: decompress: %w", f.Offset(), bulk.Unexpected(err))
	}
	return f.TakeUnzipped(r, size)
}

// decompressed decompresses bzip2, gzip or zlib. As zlib does for ITK, it tells the last two apart by the first byte.
func (h *Header) decompressed(src *bulk.Source) (io.Reader, error) {
	if h.Encoding == Bzip2 {
		return bzip2.NewReader(src.Reader), nil
	}
	if magic, err := src.Peek(1); err != nil || magic[0] == 0x1f {
		return bulk.NewGzip(src.Reader)
	}
	z := new(inflate.Reader)
	return z, z.ResetZlib(src.Reader)
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
