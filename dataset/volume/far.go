package volume

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/penstock-go/penstock/internal/files"
)

// atOnce is how many bytes of a far file are allocated and read at once, because a listing
// says that it has them. Larger files are read in parts.
const atOnce = 64 << 20

// A farFS reads a file as a whole if every read of it is a request to a service. It keeps the
// last one, because decoders open a file once for its header and once for its values.
type farFS struct {
	fs.FS
	mu   sync.Mutex
	name string
	data []byte
}

func (c *farFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c *farFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

func (c *farFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || !files.IsFar(f) {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() || info.Size() > atOnce {
		return f, nil
	}
	return &farFile{File: f, fs: c, name: name, at: at, size: info.Size()}, nil
}

// read reads a file, unless it is the one that was read last.
func (c *farFS) read(f *farFile) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data != nil && c.name == f.name {
		return c.data, nil
	}
	data := make([]byte, f.size)
	if n, err := f.at.ReadAt(data, 0); n < len(data) {
		return nil, files.Ended(err)
	}
	c.name, c.data = f.name, data
	return data, nil
}

type farFile struct {
	fs.File
	fs      *farFS
	name    string
	at      io.ReaderAt
	size    int64
	content *bytes.Reader // nil until the first Read or Seek
}

func (f *farFile) read() error {
	if f.content != nil {
		return nil
	}
	data, err := f.fs.read(f)
	if err == nil {
		f.content = bytes.NewReader(data)
	}
	return err
}

func (f *farFile) Read(p []byte) (int, error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	return f.content.Read(p)
}

func (f *farFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	return f.content.Seek(offset, whence)
}
