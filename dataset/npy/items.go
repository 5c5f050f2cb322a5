package npy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/npy"
)

// Items makes a dataset of files of numpy.save, one per sample: the files of
// fsys that match pattern (see [fs.Glob]), sorted by name. field is the name of
// the dataset's only field.
//
// All arrays must have the dtype and shape of the first one. Items opens only
// the first file; the others are checked when they are read. Byte order, and C
// or Fortran order, may differ.
func Items(fsys fs.FS, pattern, field string) (dataset.Dataset, error) {
	list, err := files.NewList(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	t := &items{List: list}
	if err := t.readFirst(field); err != nil {
		return nil, fmt.Errorf("npy: read %s: %w", list.Name(0), err)
	}
	return t, nil
}

type items struct {
	*files.List
	spec   dataset.Spec
	header npy.Header // of the first file
	head   []byte     // the bytes of header in the file
}

func (t *items) readFirst(field string) error {
	in, err := files.OpenInput(t.FS, t.Name(0))
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Packed {
		return errors.New("compressed by gzip: want a plain file per sample")
	}
	head := new(bytes.Buffer)
	in.Tee(head)
	if t.header, err = npy.ReadHeader(in); err != nil {
		return err
	}
	t.head = head.Bytes()
	f := dataset.Field{Name: field, Dtype: t.header.Encoding.Dtype, Shape: dataset.Shape(t.header.Shape)}
	t.spec = dataset.Spec{f}
	if err := t.spec.Validate(); err != nil {
		return err
	}
	return in.Holds(t.header.Encoding.Stored(int64(f.Bytes())))
}

func (t *items) Spec() dataset.Spec { return t.spec }

func (t *items) Open() (dataset.Reader, error) {
	return &itemReader{items: t, head: make([]byte, len(t.head)), order: arrays.NewReorder(t.header.Shape)}, nil
}

// Foresee begins to fetch the files before they are read: see [dataset.ForeseeFiles].
func (t *items) Foresee(f dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(t.FS, f, dataset.FileBlocks{
		Len: t.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			if t.usual() <= atOnce {
				dst = append(dst, dataset.FilePart{Path: t.Name(i), Len: -1})
			}
			return dst
		},
	})
}

// usual is the size in bytes of a file with the header of the first one.
func (t *items) usual() int64 {
	return int64(len(t.head)) + t.header.Encoding.Stored(int64(t.spec[0].Bytes()))
}

// atOnce is how many bytes of a far file are read at once.
const atOnce = 64 << 20

type itemReader struct {
	*items
	head  []byte // of the current file
	whole []byte // one of which every read is a request
	bytes bytes.Reader
	flat  []byte // one in Fortran order
	order arrays.Reorder
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
	if err := r.place(ctx, i, dst.Cell(0).Bytes()); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// place reads the file of a sample.
func (r *itemReader) place(ctx context.Context, i int, row []byte) error {
	f, size, err := r.OpenFile(ctx, i)
	if err != nil {
		return err
	}
	defer f.Close()
	from := io.Reader(f)
	if at, ok := f.(io.ReaderAt); ok && files.IsFar(f) && size == r.usual() && size <= atOnce {
		r.whole = slices.Grow(r.whole[:0], int(size))[:size]
		if n, err := at.ReadAt(r.whole, 0); n < len(r.whole) {
			return files.Ended(err)
		}
		r.bytes.Reset(r.whole)
		from = &r.bytes
	}
	// Files of one dtype and shape usually have equal headers, so it need not be parsed.
	n, err := io.ReadFull(from, r.head)
	if err == nil && bytes.Equal(r.head, r.items.head) {
		return r.fill(row, from, size, int64(n), &r.header)
	}
	in := files.NewInput(io.MultiReader(bytes.NewReader(r.head[:n]), from), size)
	h, err := npy.ReadHeader(in)
	if err != nil {
		return err
	}
	if h.Encoding.Dtype != r.header.Encoding.Dtype || !slices.Equal(h.Shape, r.header.Shape) {
		return fmt.Errorf("array of %v %v, want %v %v as in %s", h.Encoding.Dtype, h.Shape, r.header.Encoding.Dtype, r.header.Shape, r.Name(0))
	}
	return r.fill(row, in, size, in.Offset(), &h)
}

// fill reads the data, which begins at byte offset of a file of size bytes.
func (r *itemReader) fill(row []byte, from io.Reader, size, offset int64, h *npy.Header) error {
	raw := h.Encoding.Raw(row)
	if want := offset + int64(len(raw)); size != want {
		return fmt.Errorf("file of %d bytes, want %d", size, want)
	}
	to := raw
	if h.Fortran {
		r.flat = slices.Grow(r.flat[:0], len(raw))[:len(raw)]
		to = r.flat
	}
	n, err := io.ReadFull(from, to)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("file ended after %d bytes, want %d: %w", offset+int64(n), size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return files.Cause(err)
	}
	if h.Fortran {
		r.order.Copy(raw, r.flat, h.Encoding.Size)
	}
	h.Encoding.Decode(row)
	return nil
}
