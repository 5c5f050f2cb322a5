package bulk

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
)

// A Source reads a file and knows its offset.
type Source struct {
	*bufio.Reader
	file fs.File
	size int64
	read int64           // bytes taken from file
	ctx  context.Context // of all reads; nil if they cannot be cancelled
}

// ErrIrregular is the error for the name of a folder, a pipe or a device.
var ErrIrregular = errors.New("not a file")

// ErrNoFS is the error of a nil file system.
var ErrNoFS = errors.New("the file system is nil")

// Regular returns ErrIrregular if the file is not a regular one. It checks only if the file system is an fs.StatFS. A
// file that does not exist is left to Open.
func Regular(fsys fs.FS, name string) error {
	if fsys == nil {
		return ErrNoFS
	}
	if s, ok := fsys.(fs.StatFS); ok {
		if info, err := s.Stat(name); err == nil && !info.Mode().IsRegular() {
			return ErrIrregular
		}
	}
	return nil
}

// Open opens a file, with a buffer of that many bytes. Folders, pipes and devices are errors. They are not opened if the
// file system is an fs.StatFS: a pipe would wait for a writer.
func Open(fsys fs.FS, name string, buffer int) (*Source, error) {
	if err := Regular(fsys, name); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, ErrIrregular
	}
	s := &Source{file: f, size: info.Size()}
	s.Reader = bufio.NewReaderSize(counter{s}, buffer)
	return s, nil
}

// Size is the file's size in bytes.
func (s *Source) Size() int64 { return s.size }

// Offset is the offset in the file of the next byte to be read.
func (s *Source) Offset() int64 { return s.read - int64(s.Buffered()) }

// Skip skips n bytes. It does not read them if the file can seek.
func (s *Source) Skip(n int64) error {
	if b := int64(s.Buffered()); n > b {
		if seeker, ok := s.file.(io.Seeker); ok {
			if n > s.size-s.Offset() {
				return io.ErrUnexpectedEOF
			}
			to, err := seeker.Seek(s.Offset()+n, io.SeekStart)
			if err != nil {
				return err
			}
			s.read = to
			s.Reset(counter{s})
			return nil
		}
	}
	if k, err := io.CopyN(io.Discard, s.Reader, n); err != nil {
		if err == io.EOF && k < n {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// Close closes the file.
func (s *Source) Close() error { return s.file.Close() }

// counter reads the file for the buffer, and counts the bytes.
type counter struct{ s *Source }

func (c counter) Read(p []byte) (int, error) {
	if ctx := c.s.ctx; ctx != nil && ctx.Err() != nil {
		return 0, ctx.Err()
	}
	n, err := c.s.file.Read(p)
	c.s.read += int64(n)
	return n, err
}
