package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/bulk"
)

// AnyName lets an [os.DirFS] open files whose names are not UTF-8. Linux has such
// names and [fs.ReadDir] lists them, but package io/fs treats them as invalid.
// Other file systems stay as they are.
func AnyName(fsys fs.FS) fs.FS {
	if reflect.TypeOf(fsys) != reflect.TypeOf(os.DirFS(".")) {
		return fsys
	}
	root := reflect.ValueOf(fsys).String()
	if root == "" {
		return fsys
	}
	return dir(root)
}

// dir is a folder of the operating system, as os.DirFS is.
type dir string

func (d dir) Open(name string) (fs.File, error) {
	full, err := d.join("open", name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, renamed(err, name)
	}
	return f, nil
}

func (d dir) ReadDir(name string) ([]fs.DirEntry, error) {
	full, err := d.join("readdir", name)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(full)
	return entries, renamed(err, name)
}

func (d dir) Stat(name string) (fs.FileInfo, error) {
	full, err := d.join("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(full)
	return info, renamed(err, name)
}

// join is the path of a name that is valid except that it need not be UTF-8.
func (d dir) join(op, name string) (string, error) {
	valid := strings.ToValidUTF8(name, "_")
	local, err := filepath.Localize(valid)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if valid != name {
		local = name // systems with such names separate paths by slashes
	}
	return string(d) + string(filepath.Separator) + local, nil
}

// renamed is err with the requested name as its path.
func renamed(err error, name string) error {
	if p, ok := err.(*fs.PathError); ok {
		p.Path = name
	}
	return err
}

// Place is the path of at. It begins with the root if fsys is an os.DirFS, which is
// a string.
func Place(fsys fs.FS, at string) string {
	if root := reflect.ValueOf(fsys); root.Kind() == reflect.String {
		return path.Join(root.String(), at)
	}
	return at
}

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

// Match returns the sorted names of the files that match pattern (see [fs.Glob]). No
// file is an error.
func Match(fsys fs.FS, pattern string) ([]string, error) {
	if fsys == nil {
		return nil, bulk.ErrNoFS
	}
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	return names, nil
}

// A Pattern names files by numbers, as C's printf does.
type Pattern struct{ before, width, after string }

// ParsePattern splits a name at its conversion of an integer: %, a width of up to
// three digits, and d. %% is a percent sign. ok is false if the name has no
// conversion, or a different one.
func ParsePattern(name string) (p Pattern, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		rest := name[i+1:]
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			i++
			continue
		}
		after := strings.TrimLeft(rest, "0123456789")
		if width := rest[:len(rest)-len(after)]; strings.HasPrefix(after, "d") && len(width) <= 3 {
			return Pattern{b.String(), width, strings.ReplaceAll(after[1:], "%%", "%")}, true
		}
		return p, false
	}
	return p, false
}

// Number is the number that a name has, if it is that of one.
func (p Pattern) Number(name string) (n int64, ok bool) {
	digits, ok := strings.CutPrefix(name, p.before)
	if ok {
		digits, ok = strings.CutSuffix(digits, p.after)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	return n, ok && err == nil && p.Name(n) == name
}

// Name is the name with the number n.
func (p Pattern) Name(n int64) string {
	return fmt.Sprintf("%s%"+p.width+"d%s", p.before, n, p.after)
}

// Paths is a list of strings in one block of memory. A string takes 8 bytes and its
// text, and has no pointer for the garbage collector to follow.
type Paths struct {
	text string
	ends []int // of every path, in text
}

// NewPaths copies the list.
func NewPaths(list []string) Paths {
	size := 0
	for _, p := range list {
		size += len(p)
	}
	text := make([]byte, 0, size)
	ends := make([]int, 0, len(list))
	for _, p := range list {
		text = append(text, p...)
		ends = append(ends, len(text))
	}
	return Paths{string(text), ends}
}

// Len is the number of paths.
func (p *Paths) Len() int { return len(p.ends) }

// At is path i.
func (p *Paths) At(i int) string {
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text[start:p.ends[i]]
}

// Below is the path of a file whose name comes from a header in folder. A path that
// leads out of the folder is an error, whether the file exists or not.
func Below(folder, name string) (string, error) {
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%.200q is not in the header's folder", name)
	}
	full := path.Join(folder, clean)
	if clean == "." || !fs.ValidPath(full) {
		return "", fmt.Errorf("%.200q is not a path", name)
	}
	return full, nil
}
