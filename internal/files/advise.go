package files

import (
	"io/fs"
	"os"
)

// An Advisor asks the operating system to read parts of local files before they are read. It
// keeps the last file open, because the next part is often in the same one.
type Advisor struct {
	FS fs.FS
	// InMemory counts the last parts in a row that were in memory already, as far as the
	// system tells it.
	InMemory int

	path string
	file *os.File
	size int64
}

// Advise starts reading n bytes of a file from off on, or all that follow if n < 0, and returns
// how many that are. There are none if the file cannot be opened: who reads it will say why. local
// is false if it is no file of the operating system. Then no other advice helps, either.
func (a *Advisor) Advise(path string, off, n int64) (bytes int64, local bool) {
	if a.file == nil || path != a.path {
		a.Close()
		f, size, err := Open(a.FS, path)
		if err != nil {
			return 0, true
		}
		if a.file, local = f.(*os.File); !local {
			f.Close()
			return 0, false
		}
		a.path, a.size = path, size
	}
	if n < 0 || n > a.size-off {
		n = a.size - off
	}
	switch {
	case n <= 0:
		return 0, true
	case resident(a.file, off+n-1):
		a.InMemory++
	default:
		a.InMemory = 0
		advise(a.file, off, n)
	}
	return n, true
}

// Close closes the file that is open.
func (a *Advisor) Close() {
	if a.file != nil {
		a.file.Close()
		a.file = nil
	}
}
