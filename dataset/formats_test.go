package dataset_test

import (
	"io"
	"io/fs"
	"testing/fstest"
)

// countedFS counts what is read from its files at some place.
type countedFS struct {
	fstest.MapFS
	reads int
}

func (c *countedFS) Open(name string) (fs.File, error) {
	f, err := c.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	return countedFile{f, c}, nil
}

type countedFile struct {
	fs.File
	fsys *countedFS
}

func (f countedFile) ReadAt(p []byte, offset int64) (int, error) {
	f.fsys.reads++
	return f.File.(io.ReaderAt).ReadAt(p, offset)
}
