package dataset

import (
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/internal/files"
)

// readFile reads a file into a ragged uint8 cell. The scan has found that it is a
// regular file. A file that has grown or shrunk since then is read to its new end.
func readFile(fsys fs.FS, name string, cell Cell, limit int64) error {
	f, size, err := files.OpenSample(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close()
	// With one byte more, the read that finds the end of the file needs no growth.
	limit = min(limit, math.MaxInt-1)
	buf := cell.Grow(int(min(size, limit)) + 1)
	n := 0
	for size <= limit {
		k, err := f.Read(buf[n:])
		n += k
		if err == io.EOF {
			cell.Grow(n)
			return nil
		}
		if err != nil {
			return files.Cause(err)
		}
		if n == len(buf) {
			size = int64(n)
			buf = cell.Grow(int(min(2*size, limit)) + 1)
		}
	}
	return fmt.Errorf("file of %d bytes, more than MaxFileSize(%d)", size, limit)
}

// readError says which file could not be read. It does not repeat a name that
// err already has.
func readError(name string, err error) error {
	return fmt.Errorf("dataset: read %s: %w", name, files.Cause(err))
}
