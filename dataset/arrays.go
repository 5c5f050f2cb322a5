package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/files"
)

// arrays is a dataset of arrays with equally many samples.
type arrays struct {
	fields []array
	spec   Spec
	n      int
	record int64 // bytes of the largest sample that is read with others in one go
}

// newArrays makes the dataset and checks that lengths agree.
func newArrays(fields []array) (*arrays, error) {
	a := &arrays{fields: fields, n: fields[0].n}
	for k := range fields {
		f := &fields[k]
		if f.n != a.n {
			return nil, fmt.Errorf("dataset: %s has %d samples, %s has %d", f.name, f.n, fields[0].name, a.n)
		}
		a.spec = append(a.spec, f.field)
		if f.data == nil && f.record <= files.Small {
			a.record = max(a.record, f.record)
		}
	}
	return a, a.spec.Validate()
}

func (a *arrays) Len() int   { return a.n }
func (a *arrays) Spec() Spec { return a.spec }

func (a *arrays) Name(i int) string {
	if CheckIndex(i, a.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, index %d", a.fields[0].name, i)
}

func (a *arrays) ReadAhead(ctx context.Context, indices []int) {
	for k := range a.fields {
		if f := &a.fields[k]; f.data == nil {
			files.Records{Offset: f.offset, Size: f.record, N: f.n}.Advise(ctx, f.fsys, f.file, indices)
		}
	}
}

func (a *arrays) Open() (Reader, error) {
	r := &arraysReader{arrays: a, files: make([]io.ReaderAt, len(a.fields))}
	for k := range a.fields {
		if a.fields[k].data != nil {
			continue
		}
		if err := r.open(k); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if a.record > 0 {
		return &arraysBatchReader{arraysReader: r, scratch: make([]byte, max(runBytes, a.record))}, nil
	}
	return r, nil
}

type arraysReader struct {
	*arrays
	files  []io.ReaderAt // per field; nil where it is in memory
	opened []fs.File
}

// open finds the file of field k, which another field may have opened already.
func (r *arraysReader) open(k int) error {
	f := &r.fields[k]
	for other := range k {
		if r.files[other] != nil && r.fields[other].file == f.file {
			r.files[k] = r.files[other]
			return nil
		}
	}
	file, err := f.fsys.Open(f.file)
	if err != nil {
		return readError(f.name, err)
	}
	r.opened = append(r.opened, file)
	r.files[k], err = files.ReaderAt(file)
	if err != nil {
		return readError(f.name, err)
	}
	return nil
}

func (r *arraysReader) Close() error {
	var errs []error
	for _, f := range r.opened {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (r *arraysReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.n); err != nil {
		return err
	}
	if r.opened != nil {
		dst.Stage(Read)
	}
	for k := range r.fields {
		f := &r.fields[k]
		row := dst.cells[k].Bytes()
		if f.data != nil {
			copy(row, f.row(i))
			continue
		}
		if err := f.read(r.files[k], row[int64(len(row))-f.record:], i); err != nil {
			return err
		}
		f.codec.decode(row)
	}
	return nil
}

// row is sample i, which is in memory.
func (a *array) row(i int) []byte {
	size := a.field.Bytes()
	return a.data[i*size:][:size]
}

// read gets what the file holds from sample i on.
func (a *array) read(file io.ReaderAt, to []byte, i int) error {
	offset := a.offset + int64(i)*a.record
	n, err := file.ReadAt(to, offset)
	if n == len(to) {
		return nil // even if that was the end of the file
	}
	if err == io.EOF || err == nil {
		err = fmt.Errorf("file ended at byte %d, want %d: %w", offset+int64(n), offset+int64(len(to)), io.ErrUnexpectedEOF)
	}
	return readError(a.name, err)
}

// runBytes is how much an arraysBatchReader reads in one go.
const runBytes = 256 << 10

// An arraysBatchReader reads small samples that follow each other together, for
// a copy costs less than a system call.
type arraysBatchReader struct {
	*arraysReader
	scratch []byte
}

func (r *arraysBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
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

// placeRun places n samples from i on into the slots from at on.
func (r *arraysBatchReader) placeRun(ctx context.Context, i int, dst Slots, at, n int) error {
	if n == 1 {
		return r.Place(ctx, i, dst.At(at))
	}
	if err := errors.Join(CheckIndex(i, r.n), CheckIndex(i+n-1, r.n)); err != nil {
		return err
	}
	dst.At(at).Stage(Read)
	for k := range r.fields {
		f := &r.fields[k]
		run := r.scratch[:0]
		if f.data == nil && f.record <= files.Small {
			run = r.scratch[:int64(n)*f.record]
			if err := f.read(r.files[k], run, i); err != nil {
				return err
			}
		}
		for s := range n {
			slot := dst.At(at + s)
			row := slot.cells[k].Bytes()
			raw := row[int64(len(row))-f.record:]
			switch {
			case f.data != nil:
				copy(row, f.row(i+s))
				continue
			case len(run) > 0:
				copy(raw, run[int64(s)*f.record:])
			default:
				if err := f.read(r.files[k], raw, i+s); err != nil {
					return err
				}
			}
			f.codec.decode(row)
		}
	}
	return nil
}
