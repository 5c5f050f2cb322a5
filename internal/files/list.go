package files

import (
	"context"
	"io/fs"
)

// A List is the files of a dataset with one file per sample.
type List struct {
	FS      fs.FS
	paths   Paths
	advisor Advisor
}

// NewList finds the files that match pattern, as [Match] does.
func NewList(fsys fs.FS, pattern string) (*List, error) {
	names, err := Match(fsys, pattern)
	if err != nil {
		return nil, err
	}
	return &List{FS: fsys, paths: NewPaths(names)}, nil
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

// ReadAhead asks the operating system to read the files with these indices ahead.
func (l *List) ReadAhead(ctx context.Context, indices []int) {
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if name := l.Name(i); name != "" {
			l.advisor.Advise(l.FS, name)
		}
	}
}
