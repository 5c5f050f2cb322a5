// Package files opens, reads, finds and announces the files that datasets are
// made of.
//
// Its errors say what is wrong and where in the file, but not in which file and
// for whom: the package that asks wraps them once, "npy: read x.npy: byte 8: …".
package files

import (
	"errors"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/bulk"
)

// Open opens a regular file and asks for its size in bytes. Nothing else is
// opened: a pipe would wait for a writer.
func Open(fsys fs.FS, name string) (fs.File, int64, error) {
	if err := bulk.Regular(fsys, name); err != nil {
		return nil, 0, err
	}
	return OpenSample(fsys, name)
}

// OpenSample is [Open] for the file of a sample, where asking first would cost
// a system call each.
func OpenSample(fsys fs.FS, name string) (fs.File, int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, Cause(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = bulk.ErrIrregular
	}
	if err != nil {
		f.Close()
		return nil, 0, Cause(err)
	}
	return f, max(info.Size(), 0), nil
}

// Cause is err without the name that a PathError repeats.
func Cause(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// ReaderAt is the file as something that can be read at any place.
func ReaderAt(f fs.File) (io.ReaderAt, error) {
	if at, ok := f.(io.ReaderAt); ok {
		return at, nil
	}
	if seeker, ok := f.(io.ReadSeeker); ok {
		return seekingReader{seeker}, nil
	}
	return nil, errors.New("file offers neither ReadAt nor Seek")
}

// seekingReader reads at a place of a file that can only be wound there.
type seekingReader struct{ io.ReadSeeker }

func (s seekingReader) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := s.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// Small is the size in bytes up to which copying a sample to its fields costs
// less than a system call per field.
const Small = 16 << 10
