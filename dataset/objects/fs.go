package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// A fileSystem is what [NewFS] makes.
type fileSystem struct {
	ctx  context.Context
	more context.Context // of WithContext; may be nil
	*listing
}

// listing is what all copies of a fileSystem share.
type listing struct {
	store    Store
	prefix   string
	objects  []Object // sorted by name
	measured sync.Map // *Object: its size, where the listing did not tell it
}

// NewFS lists the objects of a folder of the store and makes a file system of them,
// with that folder as its root. folder is a path, or "" for the whole store. The list
// is kept in memory: [MaxListingBytes] bounds that of a [Client]. Later changes of the store are not seen: new objects do not
// appear, and reading one that has gone or was replaced is an error.
//
// Objects whose names end in a slash stand for empty folders, and are left out. Other
// names that are no paths are errors, and so is an object of the same name as a folder.
//
// It is an [fs.ReadDirFS], an [fs.ReadFileFS] and an [fs.StatFS], and its files are also [io.ReaderAt]
// and [io.Seeker]. Opening a file sends no request if the listing told its size. ReadAt is one read of
// the store; Read reads ahead in its own file, up to 4 MiB at a time.
//
// Reads end when ctx is done, and in the datasets of this library also when the context of Place is.
func NewFS(ctx context.Context, s Store, folder string) (fs.FS, error) {
	l := &listing{store: s}
	if folder != "" && folder != "." {
		if !fs.ValidPath(folder) {
			return nil, fmt.Errorf("objects: NewFS of folder %q: want a path", folder)
		}
		l.prefix = folder + "/"
	}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	return &fileSystem{ctx: ctx, listing: l}, nil
}

func (l *listing) load(ctx context.Context) error {
	for o, err := range l.store.List(ctx, l.prefix) {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(o.Name, "/") {
			l.objects = append(l.objects, o)
		}
	}
	if len(l.objects) == 0 {
		return fmt.Errorf("objects: no object in %q: %w", cmp.Or(l.prefix, "."), fs.ErrNotExist)
	}
	slices.SortFunc(l.objects, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	var errs []error
	for i, o := range l.objects {
		if len(errs) > 10 { // of which files.Join shows ten
			break
		}
		name, ok := strings.CutPrefix(o.Name, l.prefix)
		switch {
		case !ok || !fs.ValidPath(name) || name == ".":
			errs = append(errs, fmt.Errorf("objects: the name %.200q is not a path", o.Name))
		case i > 0 && l.objects[i-1].Name == o.Name:
			errs = append(errs, fmt.Errorf("objects: %s is listed twice", figures.OneLine(o.Name)))
		case l.isFolder(name):
			errs = append(errs, fmt.Errorf("objects: %s is an object and a folder", figures.OneLine(o.Name)))
		}
	}
	return files.Join(errs)
}

// find is the place of the first object that is not before name, and whether it has
// that name.
func (l *listing) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.objects, l.prefix+name, func(o Object, name string) int { return strings.Compare(o.Name, name) })
}

func (l *listing) isFolder(name string) bool {
	if name == "." {
		return true
	}
	i, _ := l.find(name + "/")
	return i < len(l.objects) && strings.HasPrefix(l.objects[i].Name, l.prefix+name+"/")
}

// WithContext returns a file system of the same objects whose reads also end when ctx
// is done. A context that was added before is replaced.
func (f *fileSystem) WithContext(ctx context.Context) fs.FS {
	return &fileSystem{ctx: f.ctx, more: ctx, listing: f.listing}
}

// Open opens an object or a folder.
func (f *fileSystem) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if f.isFolder(name) {
		return &openFolder{fs: f, name: name}, nil
	}
	o, err := f.object(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{fs: f, name: name, object: o}, nil
}

// ReadFile reads a whole object.
func (f *fileSystem) ReadFile(name string) ([]byte, error) {
	opened, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	object, ok := opened.(*file)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsFolder}
	}
	return object.readAll()
}

// object finds an object and its size.
func (f *fileSystem) object(name string) (Object, error) {
	i, ok := f.find(name)
	if !ok {
		return Object{}, fs.ErrNotExist
	}
	o := &f.objects[i]
	if o.Size >= 0 {
		return *o, nil
	}
	if found, ok := f.measured.Load(o); ok {
		return found.(Object), nil
	}
	ctx, done := join(f.ctx, f.more)
	defer done()
	found, err := f.store.Stat(ctx, o.Name)
	if err == nil && o.Version != "" && found.Version != o.Version {
		err = ErrReplaced
	}
	if err != nil {
		return Object{}, cause(err)
	}
	first, _ := f.measured.LoadOrStore(o, found)
	return first.(Object), nil
}

// Stat describes an object or a folder.
func (f *fileSystem) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	if f.isFolder(name) {
		return info{name: path.Base(name), folder: true}, nil
	}
	o, err := f.object(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info{name: path.Base(name), object: o}, nil
}

// ReadDir lists a folder, sorted by name.
func (f *fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) || !f.isFolder(name) {
		err := fs.ErrNotExist
		if _, ok := f.find(name); ok {
			err = errors.New("not a folder")
		}
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	inside := ""
	if name != "." {
		inside = name + "/"
	}
	var entries []fs.DirEntry
	for i, _ := f.find(inside); i < len(f.objects); {
		rest, ok := strings.CutPrefix(f.objects[i].Name, f.prefix+inside)
		if !ok {
			break
		}
		base, _, isFolder := strings.Cut(rest, "/")
		entries = append(entries, entry{f, inside + base, isFolder})
		i++
		if isFolder {
			i, _ = f.find(inside + base + "0") // "0" follows "/"
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// An info describes an object, which is its Sys, or a folder.
type info struct {
	name   string
	object Object
	folder bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return max(i.object.Size, 0) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.folder }

func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

func (i info) Sys() any {
	if i.folder {
		return nil
	}
	return i.object
}

// An entry of a folder.
type entry struct {
	fs     *fileSystem
	name   string
	folder bool
}

func (e entry) Name() string               { return path.Base(e.name) }
func (e entry) IsDir() bool                { return e.folder }
func (e entry) Info() (fs.FileInfo, error) { return e.fs.Stat(e.name) }
func (e entry) String() string             { return fs.FormatDirEntry(e) }

func (e entry) Type() fs.FileMode {
	if e.folder {
		return fs.ModeDir
	}
	return 0
}

// join is a context that is done when one of the two is. more may be nil. The returned function
// must be called.
func join(ctx, more context.Context) (context.Context, func()) {
	switch {
	case more == nil || more == ctx || more.Done() == nil:
		return ctx, func() {}
	case ctx.Done() == nil:
		return more, func() {}
	}
	joined, cancel := context.WithCancel(more)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}
