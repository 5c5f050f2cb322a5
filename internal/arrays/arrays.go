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
		if f.data == nil && f.record <= files.Small {
			a.record = max(a.record, f.record)
		}
	}
	return a, a.spec.Validate()
}

type arrays struct {
	pkg    string
	fields []*Array
	spec   dataset.Spec
	n      int
	record int64 // bytes of the largest sample that is read together with others
}

func (a *arrays) Len() int           { return a.n }
func (a *arrays) Spec() dataset.Spec { return a.spec }

func (a *arrays) Name(i int) string {
	if dataset.CheckIndex(i, a.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, index %d", a.fields[0].File, i)
}

// Foresee begins to fetch the samples before they are read. It leaves out fields in memory, and
// small samples of a file system that fetches what one ReadAt reads, because they are read
// together with others.
func (a *arrays) Foresee(future dataset.Future) (stop func()) {
	_, exact := a.fields[0].FS.(interface {
		ForeseeFiles(dataset.Future, dataset.FileBlocks) func()
	})
	alone := func(f *Array) bool { return f.data == nil && (f.record > files.Small || !exact) }
	if !slices.ContainsFunc(a.fields, alone) {
		return nil
	}
	return dataset.ForeseeFiles(a.fields[0].FS, future, dataset.FileBlocks{
		Len: a.n,
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			for _, f := range a.fields {
				if alone(f) {
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
	if a.record > 0 {
		return &batchReader{reader: r, scratch: make([]byte, max(runBytes, a.record))}, nil
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

// runBytes is how many bytes a batchReader reads at once.
const runBytes = 256 << 10

// A batchReader reads consecutive small samples together, because a copy costs less
// than a system call.
type batchReader struct {
	*reader
	scratch []byte
}

func (r *batchReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	for len(indices) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(int64(len(r.scratch)) / r.record)
		for k := 1; k < min(n, len(indices)); k++ {
			if indices[k] != indices[k-1]+1 {
				n = k
			}
		}
		n = min(n, len(indices))
		if err := r.placeRun(ctx, indices[0], dst, dst.Len()-len(indices), n); err != nil {
			return err
		}
		indices = indices[n:]
	}
	return nil
}

// placeRun places n consecutive samples from i on into the slots from at on.
func (r *batchReader) placeRun(ctx context.Context, i int, dst dataset.Slots, at, n int) error {
	if n == 1 {
		return r.Place(ctx, i, dst.At(at))
	}
	if err := errors.Join(dataset.CheckIndex(i, r.n), dataset.CheckIndex(i+n-1, r.n)); err != nil {
		return err
	}
	dst.At(at).Stage(dataset.StageRead)
	for k, f := range r.fields {
		run := r.scratch[:0]
		if f.data == nil && f.record <= files.Small {
			run = r.scratch[:int64(n)*f.record]
			if err := r.read(ctx, k, run, i); err != nil {
				return err
			}
		}
		for s := range n {
			row := dst.At(at + s).Cell(k).Bytes()
			raw := f.encoding.Raw(row)
			switch {
			case f.data != nil:
				copy(row, f.row(i+s))
				continue
			case len(run) > 0:
				copy(raw, run[int64(s)*f.record:])
			default:
				if err := r.read(ctx, k, raw, i+s); err != nil {
					return err
				}
			}
			f.encoding.Decode(row)
		}
	}
	return nil
}
