package dataset

import (
	"context"
	"io/fs"
	"os"
	"sync/atomic"
)

// An advisor starts reading whole files, until one shows that the operating
// system does not hold them: to open a file twice would double its latency.
type advisor struct{ deaf atomic.Bool }

func (a *advisor) advise(fsys fs.FS, name string) {
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

// records are samples that one file holds, one right after the other.
type records struct {
	offset int64 // of the first
	size   int64 // bytes of each
	n      int
}

// advise starts reading some of them, if the operating system holds the file.
func (r records) advise(ctx context.Context, fsys fs.FS, name string, indices []int) {
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
		if checkIndex(i, r.n) == nil {
			advise(file, r.offset+int64(i)*r.size, r.size)
		}
	}
}
