package arrays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// Dataset makes a dataset of one or more arrays with the same number of samples.
// Errors of its Readers begin with pkg, the name of the calling package.
func Dataset(pkg string, fields ...*Array) (dataset.Dataset, error) {
	a := &arrays{pkg: pkg, fields: fields, n: fields[0].n}
	for _, f := range fields {
		if f.n != a.n {
			return nil, fmt.Errorf("field %q has %d samples, field %q has %d", f.field.Name, f.n, fields[0].field.Name, a.n)
		}
		a.spec = append(a.spec, f.field)
	}
	return a, a.spec.Validate()
}

type arrays struct {
	pkg    string
	fields []*Array
	spec   dataset.Spec
	n      int
}

func (a *arrays) Len() int           { return a.n }
func (a *arrays) Spec() dataset.Spec { return a.spec }

func (a *arrays) Name(i int) string {
	if dataset.CheckIndex(i, a.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, index %d", a.fields[0].File, i)
}

// Foresee begins to fetch the samples that are not in memory before they are read.
func (a *arrays) Foresee(future dataset.Future) (stop func()) {
	if !slices.ContainsFunc(a.fields, func(f *Array) bool { return f.data == nil }) {
		return nil
	}
	return dataset.ForeseeFiles(a.fields[0].FS, future, dataset.FileBlocks{
		Len: a.n,
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			for _, f := range a.fields {
				if f.data == nil {
					dst = append(dst, dataset.FilePart{Path: f.File, Off: f.offset + int64(i)*f.record, Len: f.record})
				}
			}
			return dst
		},
	})
}

func (a *arrays) Open() (dataset.Reader, error) {
	r := &reader{arrays: a, files: make([]io.ReaderAt, len(a.fields))}
	for k, f := range a.fields {
		if f.data != nil {
			continue
		}
		if err := r.open(k); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: read %s: %w", a.pkg, f.File, err), r.Close())
		}
	}
	return r, nil
}

type reader struct {
	*arrays
	files  []io.ReaderAt // per field; nil where it is in memory
	opened []fs.File
}

// open opens the file of field k, unless another field has opened it already.
func (r *reader) open(k int) error {
	f := r.fields[k]
	for other := range k {
		if r.files[other] != nil && r.fields[other].File == f.File {
			r.files[k] = r.files[other]
			return nil
		}
	}
	file, err := f.FS.Open(f.File)
	if err != nil {
		return files.Cause(err)
	}
	r.opened = append(r.opened, file)
	r.files[k], err = files.ReaderAt(file)
	return err
}

func (r *reader) Close() error {
	var errs []error
	for _, f := range r.opened {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	if r.opened != nil {
		dst.Stage(dataset.StageRead)
	}
	for k, f := range r.fields {
		row := dst.Cell(k).Bytes()
		if f.data != nil {
			copy(row, f.row(i))
			continue
		}
		if err := r.read(ctx, k, f.encoding.Raw(row), i); err != nil {
			return err
		}
		f.encoding.Decode(row)
	}
	return nil
}

// read reads the bytes of field k's file from sample i on.
func (r *reader) read(ctx context.Context, k int, to []byte, i int) error {
	f := r.fields[k]
	switch err := f.read(ctx, r.files[k], to, i); {
	case err == nil:
		return nil
	case len(r.fields) > 1:
		return fmt.Errorf("%s: field %q: %w", r.pkg, f.field.Name, err)
	default:
		return fmt.Errorf("%s: %w", r.pkg, err)
	}
}
