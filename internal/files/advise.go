package files

import (
	"context"
	"io/fs"
	"os"
	"sync/atomic"
)

// An Advisor asks the operating system to read whole files, until one shows that
// the operating system does not hold them: to open a file twice would double its
// latency.
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

// Records are samples that one file holds, one right after the other.
type Records struct {
	Offset int64 // of the first
	Size   int64 // bytes of each
	N      int
}

// Advise starts reading some of them, if the operating system holds the file.
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
