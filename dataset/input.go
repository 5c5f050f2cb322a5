package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// MemoryLimit sets how many bytes of a dataset's files may be held in memory,
// where all workers share them. The default is 1 GiB. What must be in memory and
// does not fit is an error, before memory is taken for it.
type MemoryLimit int64

const defaultMemoryLimit MemoryLimit = 1 << 30

func (m MemoryLimit) check() error {
	if m < 1 {
		return fmt.Errorf("dataset: MemoryLimit(%d): want 1 or more", int64(m))
	}
	return nil
}

// An input is a file, or a member of an archive, that is read from its
// beginning to its end. It is its own counting Reader.
type input struct {
	name   string // for errors
	r      io.Reader
	offset int64 // bytes read so far, after decompression

	packed bool  // compressed: its length shows only at its end
	length int64 // bytes of the file; compressed ones, where packed
	start  int64 // where in the file the first byte lies, unless packed
	closer io.Closer
}

// openInput opens a file, which may be compressed by gzip whatever its name.
func openInput(fsys fs.FS, name string) (_ *input, err error) {
	f, size, err := files.Open(fsys, name)
	if err != nil {
		return nil, readError(name, err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	buffered := bufio.NewReader(f)
	in := &input{name: name, r: buffered, length: size, closer: f}
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, readError(name, ended(err))
		}
		in.r, in.packed = unpacked, true
	}
	return in, nil
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.offset += int64(n)
	return n, err
}

func (in *input) Close() error { return in.closer.Close() }

// fail is an error of this input.
func (in *input) fail(format string, args ...any) error {
	return readError(in.name, fmt.Errorf(format, args...))
}

// failed is an error of reading on.
func (in *input) failed(err error) error {
	if in.packed {
		return in.fail("byte %d of the decompressed data: %w", in.offset, ended(err))
	}
	return in.fail("byte %d: %w", in.offset, ended(err))
}

func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return files.Cause(err)
}

// maxRatio is by how much deflate can compress at most: 258 bytes in 2 bits.
const maxRatio = 1032

// holds reports whether the file can hold n bytes more and, unless it is
// compressed, that it holds no other. A promise is checked by it before memory
// is taken.
func (in *input) holds(n int64) error {
	switch rest := in.length - in.offset; {
	case in.packed && n/maxRatio > in.length:
		return in.fail("header promises %d bytes of data, more than %d compressed ones can hold", n, in.length)
	case in.packed:
		return nil
	case rest < n:
		return in.fail("header promises %d bytes of data from byte %d, the file has %d: %w", n, in.offset, max(rest, 0), io.ErrUnexpectedEOF)
	case rest > n:
		return in.fail("%d bytes after the data, which ends at byte %d", rest-n, in.offset+n)
	}
	return nil
}

// fill reads len(to) bytes.
func (in *input) fill(to []byte) error {
	if _, err := io.ReadFull(in, to); err != nil {
		return in.failed(err)
	}
	return nil
}

// unpack reads n bytes of a compressed file. Its size says little about how many
// there are, so memory grows with what is read.
func (in *input) unpack(n int64) ([]byte, error) {
	const likely = 16 // times smaller: pictures shrink less
	b := bulk.Growing(n, likely*in.length)
	_, err := b.Fill(in, n)
	if errors.Is(err, bulk.ErrShort) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, in.failed(err)
	}
	return b.Bytes(), nil
}

// finish checks that nothing follows, and with it a compressed file's checksum.
func (in *input) finish() error {
	at := in.offset
	switch ended, err := bulk.Ended(in); {
	case err != nil:
		return in.failed(err)
	case !ended:
		return in.fail("more data after byte %d, where the header lets it end", at)
	}
	return nil
}
