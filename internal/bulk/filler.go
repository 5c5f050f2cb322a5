package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// window is how many bytes of a file of values are read at a time.
const window = 64 << 10

// A Filler fills memory from files that it opens one after the other. Its errors say at which byte of the open file they
// occurred, but do not name the file.
type Filler struct {
	*Buffer
	*Source       // the open file
	before  int64 // bytes of the files before it
	stored  int64 // bytes of all files
}

// Want allocates memory for want bytes of values. Stored is the size of all files, and likely is how many bytes of values
// to expect from that size.
func (f *Filler) Want(want, likely, stored int64) {
	f.Buffer, f.stored = Growing(want, likely), stored
	f.Foresee(f.part)
}

func (f *Filler) part() float64 {
	return float64(f.before+f.Offset()) / float64(max(f.stored, 1))
}

// Open opens the next file, and closes the last one. Once ctx is done, reads return its error.
func (f *Filler) Open(ctx context.Context, fsys fs.FS, name string) error {
	if err := f.Close(); err != nil {
		return err
	}
	src, err := Open(fsys, name, window)
	if err != nil {
		return err
	}
	src.ctx = ctx
	f.Source = src
	return nil
}

// Close closes the file that is open.
func (f *Filler) Close() error {
	if f.Source == nil {
		return nil
	}
	f.before += f.Size()
	err := f.Source.Close()
	f.Source = nil
	return err
}

// Take reads n more bytes from r, which must read the open file.
func (f *Filler) Take(r io.Reader, n int64) error {
	got, err := f.Fill(r, n)
	if errors.Is(err, ErrShort) {
		return fmt.Errorf("byte %d: the data end after %d of %d bytes", f.Offset(), got, n)
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w, after %d of %d bytes", f.Offset(), err, got, n)
	}
	return nil
}

// TakeUnzipped reads n more bytes from r, which must decompress the open file. Then it checks the checksum: see [Finish].
func (f *Filler) TakeUnzipped(r io.Reader, n int64) error {
	if err := f.Take(r, n); err != nil {
		return err
	}
	if err := Finish(r, max(n, First)); err != nil {
		return fmt.Errorf("byte %d: %w, after the data", f.Offset(), Unexpected(err))
	}
	return nil
}

// Unexpected is err of a read that needed more bytes: io.EOF becomes io.ErrUnexpectedEOF.
func Unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
