package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// maxFile is the maximum size of an image file in bytes.
const maxFile = 256 << 20

// imageFiles is a dataset of all image files in a folder and its subfolders. Unlike
// dataset.Folder, it needs no classes. A sample has one field, "image": the encoded
// file.
type imageFiles struct {
	fsys  fs.FS
	names []string // sorted
}

func openImages(fsys fs.FS) (*imageFiles, error) {
	p := &imageFiles{fsys: fsys}
	var errs []error
	fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(path.Base(name), "."); {
		case err != nil && name == ".": // the folder itself, which the caller names
			if e := (*fs.PathError)(nil); errors.As(err, &e) {
				err = e.Err
			}
			errs = append(errs, err)
		case err != nil:
			errs = append(errs, err)
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir() || d.Type()&^fs.ModeSymlink != 0: // a pipe would block
		default:
			switch strings.ToLower(path.Ext(name)) {
			case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm":
				p.names = append(p.names, name)
			}
		}
		return nil
	})
	if len(errs) == 0 && len(p.names) == 0 {
		errs = append(errs, errors.New("no images"))
	}
	return p, errors.Join(errs...)
}

func (p *imageFiles) Len() int          { return len(p.names) }
func (p *imageFiles) Name(i int) string { return p.names[i] }

func (p *imageFiles) Spec() dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: tensor.Uint8, Ragged: true}}
}

func (p *imageFiles) Open() (dataset.Reader, error) { return &fileReader{imageFiles: p}, nil }

// fileReader holds no open file between two samples.
type fileReader struct{ *imageFiles }

func (r *fileReader) Place(_ context.Context, i int, dst dataset.Slot) error {
	dst.Stage("read")
	info, err := fs.Stat(r.fsys, r.names[i]) // opening a pipe, also through a link, would block
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a file")
	}
	f, err := r.fsys.Open(r.names[i])
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > maxFile {
		return fmt.Errorf("file of %d bytes, more than %d", info.Size(), maxFile)
	}
	_, err = io.ReadFull(f, dst.Cell(0).Grow(int(info.Size())))
	return err
}

func (r *fileReader) Close() error { return nil }
