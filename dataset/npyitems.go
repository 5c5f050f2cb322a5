package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/files"
)

// NpyItems makes a dataset of arrays that NumPy's save wrote, a file per sample:
// the files of fsys that match pattern (see [fs.Glob]), sorted by name. They
// become the field of that name, as [Npy] says.
//
// All have the kind and shape of the first, which alone is opened at once. Byte
// order, and C or Fortran order, may differ.
func NpyItems(fsys fs.FS, pattern, field string) (Dataset, error) {
	names, err := files.Match(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	in, err := openInput(fsys, names[0])
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.packed {
		return nil, readError(names[0], errors.New("compressed by gzip: want a plain file per sample"))
	}
	t := &npyItems{rawTensors: rawTensors{fsys: fsys, files: files.NewPaths(names)}}
	head := new(bytes.Buffer)
	in.r = io.TeeReader(in.r, head)
	if t.header, err = readNpyHeader(in); err != nil {
		return nil, err
	}
	t.head = head.Bytes()
	f := Field{Name: field, Dtype: t.header.kind.dtype, Shape: tensor.Shape(t.header.shape)}
	t.spec = Spec{f}
	if err := t.spec.Validate(); err != nil {
		return nil, readError(names[0], err)
	}
	t.record = t.header.kind.codec.stored(int64(f.Bytes()))
	return t, in.holds(t.record)
}

// npyItems differs from rawTensors in what a file holds.
type npyItems struct {
	rawTensors
	header npyHeader // of the first file
	head   []byte    // the same as it stands there
}

func (t *npyItems) Open() (Reader, error) {
	return &npyItemReader{npyItems: t, head: make([]byte, len(t.head)), order: newOdometer(t.header.shape)}, nil
}

type npyItemReader struct {
	*npyItems
	head  []byte // of the current file
	flat  []byte // one in Fortran order
	order *odometer
}

func (r *npyItemReader) Close() error { return nil }

func (r *npyItemReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(Read)
	name := r.files.At(i)
	f, size, err := files.OpenSample(r.fsys, name)
	if err != nil {
		return readError(name, err)
	}
	defer f.Close()
	// Files of one kind and shape mostly have the same header, which was read already.
	n, err := io.ReadFull(f, r.head)
	if err == nil && bytes.Equal(r.head, r.npyItems.head) {
		return r.place(f, name, size, int64(n), &r.header, dst)
	}
	in := &input{name: name, r: io.MultiReader(bytes.NewReader(r.head[:n]), f), length: size}
	h, err := readNpyHeader(in)
	if err != nil {
		return err
	}
	if h.kind.dtype != r.header.kind.dtype || !slices.Equal(h.shape, r.header.shape) {
		return in.fail("array of %v %v, want %v %v as in %s", h.kind.dtype, h.shape, r.header.kind.dtype, r.header.shape, r.files.At(0))
	}
	return r.place(in, name, size, in.offset, &h, dst)
}

// place reads the data, which begins at byte offset of the file.
func (r *npyItemReader) place(from io.Reader, name string, size, offset int64, h *npyHeader, dst Slot) error {
	row := dst.cells[0].Bytes()
	raw := row[int64(len(row))-h.kind.codec.stored(int64(len(row))):]
	if want := offset + int64(len(raw)); size != want {
		return readError(name, fmt.Errorf("file of %d bytes, want %d", size, want))
	}
	to := raw
	if h.fortran {
		r.flat = slices.Grow(r.flat[:0], len(raw))[:len(raw)]
		to = r.flat
	}
	n, err := io.ReadFull(from, to)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("file ended after %d bytes, want %d: %w", offset+int64(n), size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return readError(name, err)
	}
	if h.fortran {
		reorder(raw, r.flat, r.order, h.kind.bytes)
	}
	h.kind.codec.decode(row)
	return nil
}
