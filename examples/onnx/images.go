//go:build cgo

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

// maxFile bounds the bytes of an image's file.
const maxFile = 256 << 20

// images is a dataset of the image files in a folder, at any depth. They need no
// classes. A sample has one field: "image", ragged uint8, is the encoded file.
type images struct {
	fsys  fs.FS
	names []string // sorted
}

func openImages(fsys fs.FS) (*images, error) {
	d := &images{fsys: fsys}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(path.Ext(name)) {
		case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff":
			if e.Type().IsRegular() {
				d.names = append(d.names, name)
			}
		}
		return nil
	})
	if err == nil && len(d.names) == 0 {
		err = errors.New("no images")
	}
	return d, err
}

func (d *images) Len() int { return len(d.names) }

// Name makes errors name the file.
func (d *images) Name(i int) string { return d.names[i] }

func (d *images) Spec() dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: tensor.Uint8, Ragged: true}}
}

func (d *images) Open() (dataset.Reader, error) { return reader{d}, nil }

// reader has nothing open between two samples.
type reader struct{ *images }

func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	dst.Stage("read")
	f, err := r.fsys.Open(r.names[i])
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		return fmt.Errorf("%d bytes are more than %d", info.Size(), maxFile)
	}
	_, err = io.ReadFull(f, dst.Cell(0).Grow(int(info.Size())))
	return err
}

func (r reader) Close() error { return nil }
