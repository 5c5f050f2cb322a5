package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
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
	names, err := matching(fsys, pattern)
	if err != nil {
		return nil, err
	}
	return &rawTensors{fsys: fsys, files: newPaths(names), spec: spec, record: record}, nil
}

// matching are the files that match pattern, one at least, sorted by name.
func matching(fsys fs.FS, pattern string) ([]string, error) {
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("dataset: match %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("dataset: no file matches %q", pattern)
	}
	slices.Sort(names)
	return names, nil
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
	files  paths
	spec   Spec
	record int64 // bytes

	advisor advisor
}

func (t *rawTensors) Len() int              { return t.files.len() }
func (t *rawTensors) Spec() Spec            { return t.spec }
func (t *rawTensors) Open() (Reader, error) { return rawReader{t}, nil }

func (t *rawTensors) Name(i int) string {
	if checkIndex(i, t.Len()) != nil {
		return ""
	}
	return t.files.at(i)
}

func (t *rawTensors) ReadAhead(ctx context.Context, indices []int) {
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if checkIndex(i, t.Len()) == nil {
			t.advisor.advise(t.fsys, t.files.at(i))
		}
	}
}

type rawReader struct{ *rawTensors }

func (r rawReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(Read)
	name := r.files.at(i)
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
