package files

import (
	"context"
	"io/fs"
	"os"
	"sync/atomic"
)

// An Advisor asks the operating system to read whole files ahead. After a file
// that is not an *os.File it does nothing any more: it would only open every file a
// second time.
type Advisor struct{ deaf atomic.Bool }

// Advise starts reading the file.
func (a *Advisor) Advise(fsys fs.FS, name string) {
	if a.deaf.Load() {
		return
	}
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	file, ok := f.(*os.File)
	if !ok {
		a.deaf.Store(true)
		return
	}
	advise(file, 0, 0)
}

// Records are samples of equal size in one file, without padding.
type Records struct {
	Offset int64 // offset of the first in the file
	Size   int64 // bytes of each
	N      int
}

// Advise starts reading the records with these indices, if the file is an
// *os.File.
func (r Records) Advise(ctx context.Context, fsys fs.FS, name string, indices []int) {
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	file, ok := f.(*os.File)
	if !ok {
		return
	}
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if 0 <= i && i < r.N {
			advise(file, r.Offset+int64(i)*r.Size, r.Size)
		}
	}
}
