package files

import (
	"context"
	"io/fs"
	"os"
	"sync/atomic"
)

// An Advised file passes the advice to read it ahead on to what it is read from. n = 0
// means up to the end. ReadAhead reports false if nothing takes the advice.
type Advised interface{ ReadAhead(offset, n int64) bool }

// WillNeed asks the operating system to read a part of a file ahead. n = 0 means up to
// its end.
func WillNeed(f *os.File, offset, n int64) { advise(f, offset, n) }

// take passes on the advice to read a part of f ahead, and reports false if f is a file
// that takes none.
func take(f fs.File, offset, n int64) bool {
	switch f := f.(type) {
	case *os.File:
		advise(f, offset, n)
		return true
	case Advised:
		return f.ReadAhead(offset, n)
	}
	return false
}

// An Advisor asks that whole files be read ahead, by the operating system or as
// [Advised]. After a file that takes no advice it does nothing any more: it would only
// open every file a second time.
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
	if !take(f, 0, 0) {
		a.deaf.Store(true)
	}
}

// Records are samples of equal size in one file, without padding.
type Records struct {
	Offset int64 // offset of the first in the file
	Size   int64 // bytes of each
	N      int
}

// Advise starts reading the records with these indices, if the file takes advice.
func (r Records) Advise(ctx context.Context, fsys fs.FS, name string, indices []int) {
	Advise(ctx, fsys, name, indices, func(i int) (offset, n int64) {
		if i < 0 || i >= r.N {
			return 0, 0
		}
		return r.Offset + int64(i)*r.Size, r.Size
	})
}

// Advise starts reading the samples with these indices, if the file takes advice. span
// says where a sample is; samples of no bytes are left out.
func Advise(ctx context.Context, fsys fs.FS, name string, indices []int, span func(i int) (offset, n int64)) {
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if offset, n := span(i); n > 0 && !take(f, offset, n) {
			return
		}
	}
}
