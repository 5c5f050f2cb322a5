// Package files opens, reads and finds files for all packages of dataset/ that read them, asks the
// operating system to read them ahead, and replaces files as a whole.
//
// Its errors say what is wrong and where in the file. The calling package adds its
// own name and the name of the file: "npy: read x.npy: byte 8: …".
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/bulk"
)

// Open opens a regular file and returns its size in bytes. Other files are
// errors, and are not opened if fsys is an fs.StatFS: a pipe would wait for a
// writer.
func Open(fsys fs.FS, name string) (fs.File, int64, error) {
	if err := bulk.Regular(fsys, name); err != nil {
		return nil, 0, err
	}
	return OpenSample(fsys, name)
}

// OpenSample is [Open] for a file that is known to be regular. It saves a system
// call per sample: it checks only after opening, in case the file was replaced.
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

// Cause is err without the path that an fs.PathError adds.
func Cause(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// ReaderAt is the file as an io.ReaderAt. Files that can only seek are wrapped.
func ReaderAt(f fs.File) (io.ReaderAt, error) {
	if at, ok := f.(io.ReaderAt); ok {
		return at, nil
	}
	if seeker, ok := f.(io.ReadSeeker); ok {
		return seekingReader{seeker}, nil
	}
	return nil, errors.New("file offers neither ReadAt nor Seek")
}

// OpenAt is [Open] for a file that is read at any offset, by at until the file is closed.
func OpenAt(fsys fs.FS, name string) (f fs.File, at io.ReaderAt, size int64, err error) {
	if f, size, err = Open(fsys, name); err != nil {
		return nil, nil, 0, err
	}
	if at, err = ReaderAt(f); err != nil {
		return nil, nil, 0, errors.Join(err, f.Close())
	}
	return f, at, size, nil
}

// seekingReader reads at an offset of a file that can only seek.
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

// In is fsys with files whose reads end when ctx is done, if fsys can do that. A local
// file is read so fast that it need not.
func In(ctx context.Context, fsys fs.FS) fs.FS {
	if c, ok := fsys.(interface {
		WithContext(context.Context) fs.FS
	}); ok {
		return c.WithContext(ctx)
	}
	return fsys
}

type onceKey struct{}

// Once is ctx for reads of bytes that will not be read again, such as those of a scan: a cache keeps
// none of them.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// IsOnce reports whether [Once] has made ctx or one that ctx was made of.
func IsOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }

// ReadAt is at.ReadAt, and ends when ctx is done if at can do that.
func ReadAt(ctx context.Context, at io.ReaderAt, p []byte, offset int64) (int, error) {
	if c, ok := at.(far); ok {
		return c.ReadAtContext(ctx, p, offset)
	}
	return at.ReadAt(p, offset)
}

// ReadFull fills p. Unlike for at.ReadAt, it is no error that the file ends after these bytes.
func ReadFull(at io.ReaderAt, p []byte, offset int64) error {
	n, err := at.ReadAt(p, offset)
	switch {
	case err != nil && err != io.EOF:
		return err
	case n < len(p):
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Fill is [ReadFull], and ends when ctx is done if at can do that. Its error says where the file ended. No bytes are no request to a service.
func Fill(ctx context.Context, at io.ReaderAt, p []byte, offset int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := ReadAt(ctx, at, p, offset)
	switch {
	case n == len(p):
		return nil // even if that was the end of the file
	case err == nil || err == io.EOF:
		return fmt.Errorf("file ended at byte %d, want %d: %w", offset+int64(n), offset+int64(len(p)), io.ErrUnexpectedEOF)
	}
	return Cause(err)
}

// FillWithin fills p from a file of that many bytes, which is asked for no others. Its error is that of [Fill].
func FillWithin(at io.ReaderAt, size int64, p []byte, offset int64) error {
	if offset < 0 || offset > size-int64(len(p)) {
		return fmt.Errorf("file ended at byte %d, want %d: %w", size, offset+int64(len(p)), io.ErrUnexpectedEOF)
	}
	return Fill(context.Background(), at, p, offset)
}

// far is a file of which every read is a request to a service, so that few long reads are
// better than many short ones.
type far interface {
	ReadAtContext(ctx context.Context, p []byte, offset int64) (int, error)
}

// IsFar reports whether every read of f is a request to a service.
func IsFar(f any) bool {
	_, ok := f.(far)
	return ok
}

// Small is a size in bytes. Smaller samples are read faster all at once, with a copy of
// their fields, than with one system call per field.
const Small = 16 << 10
