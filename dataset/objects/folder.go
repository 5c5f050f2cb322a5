package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// Folder is a store of the regular files in a folder and the folders in it. Symbolic
// links to files are followed, links to folders are not. The version of a file is
// the time of its last change and its size.
//
// It opens the file for every read. Where nothing but local files is read, [os.DirFS]
// is faster.
func Folder(dir string) Store { return folder{os.DirFS(dir), dir} }

type folder struct {
	files fs.FS
	dir   string
}

// Identity is the absolute path.
func (d folder) Identity() string {
	full, err := filepath.Abs(d.dir)
	if err != nil {
		return ""
	}
	return "file://" + filepath.ToSlash(full)
}

func (d folder) open(name string) (fs.File, Object, error) {
	if d.dir == "" || name == "." {
		return nil, Object{}, fs.ErrInvalid
	}
	info, err := fs.Stat(d.files, name) // opening a pipe would wait for a writer
	if err != nil {
		return nil, Object{}, files.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, Object{}, errIrregular
	}
	f, err := d.files.Open(name)
	if err != nil {
		return nil, Object{}, files.Cause(err)
	}
	return f, objectOf(name, info), nil
}

var errIrregular = fmt.Errorf("not a file: %w", fs.ErrNotExist)

func objectOf(name string, info fs.FileInfo) Object {
	return Object{name, info.Size(), fmt.Sprintf("%d-%d", info.ModTime().UnixNano(), info.Size())}
}

func (d folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		begin := "." // the folder in which all the names are
		if slash := strings.LastIndexByte(prefix, '/'); slash > 0 {
			begin = prefix[:slash]
		}
		err := fs.WalkDir(d.files, begin, func(name string, e fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || e.IsDir() || !strings.HasPrefix(name, prefix) {
				return err
			}
			info, err := fs.Stat(d.files, name)
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			if !yield(objectOf(name, info), nil) {
				yield = nil
				return fs.SkipAll
			}
			return nil
		})
		if err != nil && yield != nil {
			if at, ok := errors.AsType[*fs.PathError](err); ok {
				if err = at.Err; at.Path != "." {
					err = fmt.Errorf("%s: %w", at.Path, at.Err)
				}
			}
			yield(Object{}, named("list", prefix, err))
		}
	}
}

func (d folder) Stat(ctx context.Context, name string) (Object, error) {
	if err := ctx.Err(); err != nil {
		return Object{}, named("stat", name, err)
	}
	f, o, err := d.open(name)
	if err != nil {
		return o, named("stat", name, err)
	}
	return o, named("stat", name, f.Close())
}

func (d folder) ReadAt(ctx context.Context, o Object, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return named("read", o.Name, err)
	}
	return named("read", o.Name, d.read(o, p, off))
}

func (d folder) read(o Object, p []byte, off int64) error {
	if err := checkRange(o, len(p), off); err != nil {
		return err
	}
	f, _, err := d.open(o.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.(io.ReaderAt).ReadAt(p, off) // it is an *os.File
	// After the read, because a file can also change while it is read.
	info, err2 := f.Stat()
	switch {
	case err2 != nil:
		return files.Cause(err2)
	case o.Version != "" && objectOf(o.Name, info).Version != o.Version:
		return ErrReplaced
	case err == io.EOF && len(p) > 0:
		return io.ErrUnexpectedEOF
	}
	return files.Cause(err)
}

// Foresee asks the operating system to read the blocks ahead: see [dataset.ForeseeFiles].
func (d folder) Foresee(f dataset.Future, b Blocks) (stop func()) {
	return dataset.ForeseeFiles(d.files, f, dataset.FileBlocks{
		Len:  b.Len,
		Of:   b.Of,
		Once: b.Once,
		At: func(block int, dst []dataset.FilePart) []dataset.FilePart {
			for _, b := range b.At(block, nil) {
				dst = append(dst, dataset.FilePart{Path: b.Object.Name, Off: b.Off, Len: b.Len})
			}
			return dst
		},
	})
}
