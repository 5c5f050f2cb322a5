package packed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// Items makes a dataset of files with one raw record each: the files of fsys
// that match pattern (see [fs.Glob]), sorted by name. A record is one sample of
// that spec, as in [OpenRaw]. NumPy's tofile writes such files, and so does
// [WriteItems].
func Items(fsys fs.FS, pattern string, spec dataset.Spec) (dataset.Dataset, error) {
	record, err := recordSize(spec)
	if err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	list, err := files.NewList(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	return &items{List: list, spec: spec, record: record}, nil
}

type items struct {
	*files.List
	spec   dataset.Spec
	record int64 // bytes
}

func (t *items) Spec() dataset.Spec            { return t.spec }
func (t *items) Open() (dataset.Reader, error) { return &itemReader{items: t}, nil }

// Foresee begins to fetch the files before they are read: see [dataset.ForeseeFiles].
func (t *items) Foresee(f dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(t.FS, f, dataset.FileBlocks{
		Len: t.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			if t.record <= atOnce {
				dst = append(dst, dataset.FilePart{Path: t.Name(i), Len: -1})
			}
			return dst
		},
	})
}

type itemReader struct {
	*items
	whole []byte // of a far file with several fields
}

func (r *itemReader) Close() error { return nil }

func (r *itemReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	if err := r.place(ctx, i, dst); err != nil {
		return fmt.Errorf("packed: %w", files.Cause(err))
	}
	return nil
}

// place reads file i, which holds one sample and nothing else. It reads in sequence,
// so the file need not implement io.ReaderAt, or at once if every read is a request.
func (r *itemReader) place(ctx context.Context, i int, dst dataset.Slot) error {
	f, size, err := r.OpenFile(ctx, i)
	if err != nil {
		return err
	}
	defer f.Close()
	record := r.record
	if size != record {
		return fmt.Errorf("file of %d bytes, want %d", size, record)
	}
	if at, ok := f.(io.ReaderAt); ok && dst.Len() > 1 && files.IsFar(f) && record <= atOnce {
		r.whole = slices.Grow(r.whole[:0], int(record))[:record]
		if n, err := at.ReadAt(r.whole, 0); n < len(r.whole) {
			return files.Ended(err)
		}
		rest := r.whole
		for k := range dst.Len() {
			rest = rest[copy(dst.Cell(k).Bytes(), rest):]
		}
		return nil
	}
	var at int64
	for k := range dst.Len() {
		n, err := io.ReadFull(f, dst.Cell(k).Bytes())
		at += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("file ended after %d bytes, want %d: %w", at, record, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteItems writes every sample of ds to a file of its own in dir, for
// [Items]. It makes dir if it does not exist. The names are 00000000.raw and so
// on, so that they sort in the order of the samples. Random transforms draw the
// numbers of seed 0 and epoch 0.
func WriteItems(ctx context.Context, dir string, ds dataset.Dataset) error {
	if ds == nil {
		return errNoDataset
	}
	if _, err := recordSize(ds.Spec()); err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("packed: write %s: %w", dir, files.Cause(err))
	}
	return dataset.Each(ctx, ds, func(i int, s dataset.Slot) error {
		name := filepath.Join(dir, fmt.Sprintf("%08d.raw", i))
		if err := writeItem(name, s); err != nil {
			return fmt.Errorf("packed: write %s: %w", name, files.Cause(err))
		}
		return nil
	})
}

func writeItem(name string, s dataset.Slot) (err error) {
	f, err := private.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeRecord(f, s)
}
