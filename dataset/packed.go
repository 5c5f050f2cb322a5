package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// PackedTensors makes a dataset of one file that holds all samples one right
// after the other, each as in a file of [RawTensors]. [WritePacked] writes such
// a file. Every Reader opens the file once and reads samples straight into
// their slots, without allocation.
//
// A size that is no multiple of a sample's is an error. The file must offer
// io.ReaderAt or io.Seeker, as an os.File does.
func PackedTensors(fsys fs.FS, name string, spec Spec, options ...PackedOption) (Dataset, error) {
	record, err := recordSize(spec)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, readError(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, readError(name, errors.New("not a file"))
	}
	p := &packedTensors{fsys: fsys, name: name, spec: spec, record: record, n: int(info.Size() / record), want: -1}
	for _, option := range options {
		option(p)
	}
	switch {
	case p.want >= 0 && (p.n != p.want || info.Size()%record != 0):
		err = fmt.Errorf("file of %d bytes, want %d samples of %d bytes each", info.Size(), p.want, record)
	case info.Size()%record != 0:
		err = fmt.Errorf("file of %d bytes, want a multiple of %d: %d samples and %d bytes", info.Size(), record, p.n, info.Size()%record)
	}
	if err != nil {
		return nil, readError(name, err)
	}
	return p, nil
}

// A PackedOption changes what [PackedTensors] does.
type PackedOption func(*packedTensors)

// Count makes it an error if the file does not hold exactly n samples. A negative
// n allows any number.
func Count(n int) PackedOption {
	return func(p *packedTensors) { p.want = n }
}

type packedTensors struct {
	fsys   fs.FS
	name   string
	spec   Spec
	record int64 // bytes
	n      int
	want   int // of samples; -1 for as many as there are
}

func (p *packedTensors) Len() int   { return p.n }
func (p *packedTensors) Spec() Spec { return p.spec }

func (p *packedTensors) Name(i int) string {
	if checkIndex(i, p.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, record %d", p.name, i)
}

func (p *packedTensors) ReadAhead(ctx context.Context, indices []int) {
	f, err := p.fsys.Open(p.name)
	if err != nil {
		return
	}
	defer f.Close()
	file, ok := f.(*os.File)
	if !ok {
		return
	}
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if checkIndex(i, p.n) == nil {
			advise(file, int64(i)*p.record, p.record)
		}
	}
}

func (p *packedTensors) Open() (Reader, error) {
	f, err := p.fsys.Open(p.name)
	if err != nil {
		return nil, readError(p.name, err)
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		seeker, ok := f.(io.ReadSeeker)
		if !ok {
			return nil, errors.Join(readError(p.name, errors.New("file offers neither ReadAt nor Seek")), f.Close())
		}
		at = seekingReader{seeker}
	}
	r := &packedReader{packedTensors: p, file: f, at: at}
	if p.record <= smallRecord && len(p.spec) > 1 {
		r.scratch = make([]byte, p.record)
	}
	return r, nil
}

// smallRecord is the size in bytes up to which copying a record to its fields
// costs less than a system call per field.
const smallRecord = 16 << 10

type packedReader struct {
	*packedTensors
	file    fs.File
	at      io.ReaderAt
	scratch []byte // for a record of several fields, if it is small
}

func (r *packedReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkIndex(i, r.n); err != nil {
		return err
	}
	dst.Stage(Read)
	offset := int64(i) * r.record
	if r.scratch != nil {
		if err := r.read(r.scratch, offset); err != nil {
			return err
		}
		rest := r.scratch
		for _, c := range dst.cells {
			rest = rest[copy(c.Bytes(), rest):]
		}
		return nil
	}
	for _, c := range dst.cells {
		row := c.Bytes()
		if err := r.read(row, offset); err != nil {
			return err
		}
		offset += int64(len(row))
	}
	return nil
}

func (r *packedReader) read(to []byte, offset int64) error {
	n, err := r.at.ReadAt(to, offset)
	if n == len(to) {
		return nil // even if that was the end of the file
	}
	if err == io.EOF || err == nil {
		err = fmt.Errorf("file ended at byte %d, but had %d when it was opened: %w",
			offset+int64(n), int64(r.n)*r.record, io.ErrUnexpectedEOF)
	}
	return readError(r.name, err)
}

func (r *packedReader) Close() error { return r.file.Close() }

// seekingReader reads at a place of a file that can only be wound there.
type seekingReader struct{ io.ReadSeeker }

func (s seekingReader) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := s.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
