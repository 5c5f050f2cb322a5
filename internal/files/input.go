package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/inflate"
	"github.com/penstock-go/penstock/internal/slots"
)

// An Input is a file, or a member of an archive, that is read from beginning to
// end. It counts the bytes read, so that errors say where they occurred.
type Input struct {
	// Packed inputs are compressed. Their decompressed length is known only at the end.
	Packed bool
	// Length is the size of the file in bytes, compressed if Packed.
	Length int64
	// Start is the offset of the first byte in the file, unless Packed.
	Start int64

	r      io.Reader
	offset int64 // bytes read so far, after decompression
	closer io.Closer
}

// OpenInput opens a file. It decompresses gzip, for any file name.
func OpenInput(fsys fs.FS, name string) (_ *Input, err error) {
	f, size, err := Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	buffered := bufio.NewReader(f)
	in := &Input{r: buffered, Length: size, closer: f}
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := inflate.NewGzip(buffered)
		if err != nil {
			return nil, Ended(err)
		}
		in.r, in.Packed = unpacked, true
	}
	return in, nil
}

// NewInput makes an input of r, which Close closes if it is an io.Closer.
func NewInput(r io.Reader, length int64) *Input {
	in := &Input{r: r, Length: length}
	if c, ok := r.(io.Closer); ok {
		in.closer = c
	}
	return in
}

// Offset is how many bytes were read so far, after decompression.
func (in *Input) Offset() int64 { return in.offset }

// Peek returns the next n bytes without consuming them.
func (in *Input) Peek(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(in.r, b)
	in.r = io.MultiReader(bytes.NewReader(b[:k]), in.r)
	return b[:k], Ended(err)
}

// Tee copies all further bytes that are read to w.
func (in *Input) Tee(w io.Writer) { in.r = io.TeeReader(in.r, w) }

// Read reads on.
func (in *Input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.offset += int64(n)
	return n, err
}

// Close closes the file.
func (in *Input) Close() error {
	if in.closer == nil {
		return nil
	}
	return in.closer.Close()
}

// failed adds the offset to a read error.
func (in *Input) failed(err error) error {
	if in.Packed {
		return fmt.Errorf("byte %d of the decompressed data: %w", in.offset, Ended(err))
	}
	return fmt.Errorf("byte %d: %w", in.offset, Ended(err))
}

// Ended is err of a read that needed more bytes: io.EOF becomes io.ErrUnexpectedEOF.
func Ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return Cause(err)
}

// maxRatio is the maximum compression ratio of deflate: 258 bytes in 2 bits.
const maxRatio = 1032

// Holds returns an error if the file cannot hold n more bytes or, unless it is
// compressed, if it holds more than these. Call it before memory is allocated.
func (in *Input) Holds(n int64) error {
	switch rest := in.Length - in.offset; {
	case in.Packed && n/maxRatio > in.Length:
		return fmt.Errorf("header promises %d bytes of data, more than %d compressed bytes can hold", n, in.Length)
	case in.Packed:
		return nil
	case rest < n:
		return fmt.Errorf("header promises %d bytes of data from byte %d, the file has %d: %w", n, in.offset, max(rest, 0), io.ErrUnexpectedEOF)
	case rest > n:
		return fmt.Errorf("%d bytes after the data, which ends at byte %d", rest-n, in.offset+n)
	}
	return nil
}

// Fill reads len(to) bytes.
func (in *Input) Fill(to []byte) error {
	if _, err := io.ReadFull(in, to); err != nil {
		return in.failed(err)
	}
	return nil
}

// Rest reads the last n bytes, for which [Input.Holds] was called, into aligned
// memory. More bytes are an error.
func (in *Input) Rest(n int64) (data []byte, err error) {
	if in.Packed {
		data, err = in.unpack(n)
	} else {
		data = bulk.Make(int(n))
		err = in.Fill(data)
	}
	if err == nil {
		err = in.Finish()
	}
	return data, err
}

// Unpacked decompresses the last n bytes of a compressed input into memory and
// returns them as an input. Any other input is returned itself.
func (in *Input) Unpacked(n int64) (*Input, error) {
	if !in.Packed {
		return in, nil
	}
	raw, err := in.Rest(n)
	if err != nil {
		return nil, err
	}
	return NewInput(bytes.NewReader(raw), n), nil
}

// unpack reads n bytes of a compressed file. The compressed size says little
// about the real one, so memory grows as bytes are read.
func (in *Input) unpack(n int64) ([]byte, error) {
	const likely = 16 // expected compression ratio; images have less
	b := bulk.Growing(n, likely*in.Length)
	_, err := b.Fill(in, n)
	if errors.Is(err, bulk.ErrShort) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, in.failed(err)
	}
	return b.Bytes(), nil
}

// Finish checks that no bytes follow. This also checks the checksum of a
// compressed file.
func (in *Input) Finish() error {
	at := in.offset
	switch ended, err := bulk.Ended(in); {
	case err != nil:
		return in.failed(err)
	case !ended:
		return fmt.Errorf("more data after byte %d, where the header says that it ends", at)
	}
	return nil
}

// ReadSample reads a file of at most limit bytes into a ragged uint8 cell. It is known to
// be a regular file. A file that has grown or shrunk since then is read to its new end. A file
// that is known to be larger takes no memory.
func ReadSample(fsys fs.FS, name string, cell slots.Cell, limit int64) error {
	f, size, err := OpenSample(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return ReadOpened(f, size, cell, limit)
}

// ReadOpened is [ReadSample] for a file that is open, and of which nothing has been read.
func ReadOpened(f fs.File, size int64, cell slots.Cell, limit int64) error {
	limit = min(limit, math.MaxInt-1)
	n := 0
	for size <= limit {
		// With one byte more, the read that finds the end of the file needs no growth.
		buf := cell.Grow(int(size) + 1)
		for n < len(buf) {
			k, err := f.Read(buf[n:])
			n += k
			if err == io.EOF {
				cell.Grow(n)
				return nil
			}
			if err != nil {
				return Cause(err)
			}
		}
		if size = int64(n); size <= limit {
			size = min(2*size, limit)
		}
	}
	return fmt.Errorf("file of %d bytes, more than MaxBytes(%d)", size, limit)
}
