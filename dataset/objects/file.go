package objects

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

const (
	firstWindow = 256 << 10 // bytes that the first Read of a file takes, at least
	lastWindow  = 4 << 20   // what it doubles to
	mostTrusted = 16 << 20  // bytes of memory that a listed size is worth, before any byte has come
)

// A file is an open object.
type file struct {
	fs     *fileSystem
	name   string
	object Object

	at     int64  // of the next Read
	window []byte // bytes that were read ahead
	begin  int64  // of window in the object
	closed bool
}

func (f *file) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: cause(err)}
}

func (f *file) Stat() (fs.FileInfo, error) {
	if f.closed {
		return nil, f.failed("stat", fs.ErrClosed)
	}
	return info{name: path.Base(f.name), object: f.object}, nil
}

func (f *file) Close() error {
	if f.closed {
		return f.failed("close", fs.ErrClosed)
	}
	f.closed, f.window = true, nil
	return nil
}

// ReadAt reads at an offset. Several goroutines may call it at once.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext is ReadAt, and also ends when ctx is done.
func (f *file) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	switch {
	case f.closed:
		return 0, f.failed("read", fs.ErrClosed)
	case off < 0:
		return 0, f.failed("read", fs.ErrInvalid)
	case off >= f.object.Size:
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.object.Size-off))
	own, done := join(f.fs.ctx, f.fs.more)
	defer done()
	ctx, done2 := join(own, ctx)
	defer done2()
	if err := f.fs.store.ReadAt(ctx, f.object, p[:n], off); err != nil {
		return 0, f.failed("read", err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readAll reads the file from the beginning. It takes memory as the bytes arrive, because
// a listing may claim any size.
func (f *file) readAll() ([]byte, error) {
	var all []byte
	for size := f.object.Size; int64(len(all)) < size; {
		n := int(min(int64(max(len(all), mostTrusted)), size-int64(len(all))))
		all = append(make([]byte, 0, len(all)+n), all...)
		part := all[len(all):][:n]
		if _, err := f.ReadAt(part, int64(len(all))); err != nil {
			return nil, err
		}
		all = all[:len(all)+n]
	}
	return all, nil
}

// Read reads on. Where little is asked for, it reads more and keeps it, the more the
// longer the reads go on without a Seek.
func (f *file) Read(p []byte) (int, error) {
	left := f.object.Size - f.at
	switch {
	case f.closed:
		return 0, f.failed("read", fs.ErrClosed)
	case len(p) == 0:
		return 0, nil
	case left <= 0:
		return 0, io.EOF
	}
	if kept := f.at - f.begin; kept < 0 || kept >= int64(len(f.window)) {
		size := min(max(firstWindow, 2*cap(f.window)), lastWindow)
		if len(p) >= size || int64(len(p)) >= left {
			n, err := f.ReadAt(p[:min(int64(len(p)), left)], f.at)
			f.at += int64(n)
			return n, err
		}
		window := make([]byte, min(int64(size), left))
		if _, err := f.ReadAt(window, f.at); err != nil {
			return 0, err
		}
		f.window, f.begin = window, f.at
	}
	n := copy(p, f.window[f.at-f.begin:])
	f.at += int64(n)
	return n, nil
}

// Seek sets where the next Read begins.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.object.Size
	case io.SeekStart:
	default:
		return 0, f.failed("seek", fs.ErrInvalid)
	}
	if offset < 0 {
		return 0, f.failed("seek", fs.ErrInvalid)
	}
	f.at = offset
	return offset, nil
}

// An openFolder is a folder that was opened.
type openFolder struct {
	fs      *fileSystem
	name    string
	entries []fs.DirEntry // that are left
	read    bool
}

func (d *openFolder) Stat() (fs.FileInfo, error) {
	return info{name: path.Base(d.name), folder: true}, nil
}

func (d *openFolder) Close() error { return nil }

func (d *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errIsFolder}
}

var errIsFolder = errors.New("is a folder")

func (d *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		entries, err := d.fs.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.entries, d.read = entries, true
	}
	k := len(d.entries)
	if n > 0 {
		if k = min(n, k); k == 0 {
			return nil, io.EOF
		}
	}
	list := d.entries[:k:k]
	d.entries = d.entries[k:]
	return list, nil
}
