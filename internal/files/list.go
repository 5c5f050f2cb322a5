package files

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/bulk"
)

// A List is the files of a dataset with one file per sample.
type List struct {
	FS      fs.FS
	paths   Paths
	regular []atomic.Uint32 // a bit per file: set once it was found to be regular
}

// NewList finds the files that match pattern, as [Match] does.
func NewList(fsys fs.FS, pattern string) (*List, error) {
	names, err := Match(fsys, pattern)
	if err != nil {
		return nil, err
	}
	return &List{FS: fsys, paths: NewPaths(names), regular: make([]atomic.Uint32, (len(names)+31)/32)}, nil
}

// Len is the number of files.
func (l *List) Len() int { return l.paths.Len() }

// Name is the path of file i, or "" if i is out of range.
func (l *List) Name(i int) string {
	if i < 0 || i >= l.Len() {
		return ""
	}
	return l.paths.At(i)
}

// OpenFile opens file i, as [Open] does, and returns its size in bytes. It asks
// only once per file, before it is first opened, whether the file is regular. Reads
// end when ctx is done, if the file system can do that.
func (l *List) OpenFile(ctx context.Context, i int) (fs.File, int64, error) {
	name, bit, fsys := l.Name(i), uint32(1)<<(i%32), In(ctx, l.FS)
	if l.regular[i/32].Load()&bit == 0 {
		if err := bulk.Regular(fsys, name); err != nil {
			return nil, 0, err
		}
		l.regular[i/32].Or(bit)
	}
	return OpenSample(fsys, name)
}
