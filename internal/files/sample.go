package files

import (
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/internal/slots"
)

// ReadSample reads a file of at most limit bytes into a ragged uint8 cell. It is known to
// be a regular file. A file that has grown or shrunk since then is read to its new end. A file
// that is known to be larger takes no memory.
func ReadSample(fsys fs.FS, name string, cell slots.Cell, limit int64) error {
	f, size, err := OpenSample(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close()
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
