package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/internal/files"
)

// RawTensors makes a dataset of preprocessed samples, a file per sample: the
// files of fsys that match pattern (see [fs.Glob]), sorted by name.
//
// A file holds the fields' rows in the order of spec, one right after the other
// and nothing else, as they lie in memory: in the machine's byte order, which is
// little-endian on amd64 and arm64. NumPy's tofile writes such files, and so
// does [WriteItems]. Fields cannot be ragged.
func RawTensors(fsys fs.FS, pattern string, spec Spec) (Dataset, error) {
	record, err := recordSize(spec)
	if err != nil {
		return nil, err
	}
	names, err := files.Match(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return &rawTensors{fsys: fsys, files: files.NewPaths(names), spec: spec, record: record}, nil
}

// recordSize is how many bytes the fields of a sample take together.
func recordSize(spec Spec) (int64, error) {
	if err := spec.Validate(); err != nil {
		return 0, err
	}
	var errs []error
	var size int64
	for _, f := range spec {
		if f.Ragged {
			errs = append(errs, fmt.Errorf("dataset: field %q is ragged: want a fixed size, so that a sample's place in a file is known", f.Name))
		}
		size += int64(f.Bytes())
	}
	return size, errors.Join(errs...)
}

type rawTensors struct {
	fsys   fs.FS
	files  files.Paths
	spec   Spec
	record int64 // bytes

	advisor files.Advisor
}

func (t *rawTensors) Len() int              { return t.files.Len() }
func (t *rawTensors) Spec() Spec            { return t.spec }
func (t *rawTensors) Open() (Reader, error) { return rawReader{t}, nil }

func (t *rawTensors) Name(i int) string {
	if CheckIndex(i, t.Len()) != nil {
		return ""
	}
	return t.files.At(i)
}

func (t *rawTensors) ReadAhead(ctx context.Context, indices []int) {
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if CheckIndex(i, t.Len()) == nil {
			t.advisor.Advise(t.fsys, t.files.At(i))
		}
	}
}

type rawReader struct{ *rawTensors }

func (r rawReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(Read)
	name := r.files.At(i)
	if err := readRecord(r.fsys, name, dst, r.record); err != nil {
		return readError(name, err)
	}
	return nil
}

func (r rawReader) Close() error { return nil }

// readRecord reads a file that holds one sample and nothing else. A new file is
// at its beginning, so reading on gets what pread would.
func readRecord(fsys fs.FS, name string, dst Slot, record int64) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != record {
		return fmt.Errorf("file of %d bytes, want %d", info.Size(), record)
	}
	var at int64
	for _, c := range dst.cells {
		n, err := io.ReadFull(f, c.Bytes())
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
