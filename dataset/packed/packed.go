// Package packed stores preprocessed samples in the layout that they have in
// memory, so that they can be read straight into a batch.
//
// A packed file holds all samples and a description of them. [Write] writes a
// whole dataset to one. [Create] writes one batch by batch and can continue
// after an interruption. A file from [Open] compares every sample with its
// checksum when the sample is first read. So the first epoch finds all damage,
// and later epochs lose no time. This is the layout; all numbers are
// little-endian:
//
//	n × record     the samples, in the byte order that the description names
//	n × uint32     a checksum per sample: CRC-32C (RFC 3720, section 12.1)
//	description    JSON: fields (name, dtype, shape), byte order, class names
//	uint64         length of the description in bytes
//	uint64         n
//	uint32         CRC-32C of everything after the samples up to here
//	11 bytes       "\x89penstock\r\n"
//	uint8          version of the layout: 1
//
// A record is the values of all fields, in the order of the spec, without
// padding. No field may be ragged.
//
// Other programs write raw records (numpy.tofile). They have no description and
// no checksums. [OpenRaw] reads a file of many records, [Items] reads files of
// one record each.
package packed

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// A File is a dataset in one file, made by [Open] or [OpenRaw]. Every Reader
// opens the file once and reads samples straight into their slots, without
// allocation.
type File struct {
	fsys    fs.FS
	name    string
	spec    dataset.Spec
	record  int64 // bytes
	n       int
	size    int64 // of the file, in bytes
	classes []string
	sums    []uint32        // of every sample; nil if there are none
	checked []atomic.Uint32 // a bit per sample: set once its checksum was right
}

// Open opens a file that [Write] or a [Writer] wrote. Files of fsys must
// implement io.ReaderAt or io.Seeker, as an os.File does.
func Open(fsys fs.FS, name string) (*File, error) {
	p := &File{fsys: fsys, name: name}
	if err := p.describe(); err != nil {
		return nil, fmt.Errorf("packed: read %s: %w", name, err)
	}
	return p, nil
}

func (p *File) describe() error {
	t, err := p.trailer()
	if err != nil {
		return err
	}
	if t == nil {
		return fmt.Errorf("file of %d bytes is not a packed file, or is cut short; OpenRaw reads raw records", p.size)
	}
	p.spec, p.record, p.n, p.classes = t.spec, t.record, len(t.sums), t.classes
	p.sums, p.checked = t.sums, make([]atomic.Uint32, (p.n+31)/32)
	return nil
}

// OpenRaw opens a file of raw records: samples of that spec, without padding or
// anything else, in the machine's byte order (little-endian on amd64 and
// arm64). NumPy's tofile writes such files, and so does [WriteRaw]. No field
// may be ragged. It is an error if the size of the file is not a multiple of
// the size of a sample, or if it is a file for [Open].
func OpenRaw(fsys fs.FS, name string, spec dataset.Spec) (*File, error) {
	record, err := recordSize(spec)
	if err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	p := &File{fsys: fsys, name: name, spec: spec, record: record}
	if err := p.measure(); err != nil {
		return nil, fmt.Errorf("packed: read %s: %w", name, err)
	}
	return p, nil
}

func (p *File) measure() error {
	t, err := p.trailer()
	if err != nil {
		return err
	}
	if t != nil {
		return errors.New("it is a packed file: want Open")
	}
	if p.size/p.record > math.MaxInt {
		return fmt.Errorf("%d samples are more than %d", p.size/p.record, math.MaxInt)
	}
	p.n = int(p.size / p.record)
	if rest := p.size % p.record; rest != 0 {
		return fmt.Errorf("file of %d bytes, want a multiple of %d: %d samples and %d bytes", p.size, p.record, p.n, rest)
	}
	return nil
}

// trailer reads the file's size and its trailer, or nil if it has none.
func (p *File) trailer() (*trailer, error) {
	f, size, err := files.Open(p.fsys, p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at, err := files.ReaderAt(f)
	if err != nil {
		return nil, err
	}
	p.size = size
	return readTrailer(at, size)
}

// recordSize is the size of a sample in bytes.
func recordSize(spec dataset.Spec) (int64, error) {
	if err := spec.Validate(); err != nil {
		return 0, err
	}
	var errs []error
	var size int64
	for _, f := range spec {
		if f.Ragged {
			errs = append(errs, fmt.Errorf("field %q is ragged: want a fixed size", f.Name))
		}
		size += int64(f.Bytes())
	}
	return size, errors.Join(errs...)
}

// Len is the number of samples.
func (p *File) Len() int { return p.n }

// Spec is the spec stored in the file, or the one given to [OpenRaw].
func (p *File) Spec() dataset.Spec { return p.spec }

// Classes are the names of the classes; labels are indices into them. They are
// nil if the file has none.
func (p *File) Classes() []string { return slices.Clone(p.classes) }

// Name is the file's name and the number of sample i, "train.packed, record 2",
// or "" if i is out of range.
func (p *File) Name(i int) string {
	if dataset.CheckIndex(i, p.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, record %d", p.name, i)
}

// ReadAhead asks the operating system (Linux or macOS) to read the samples
// ahead.
func (p *File) ReadAhead(ctx context.Context, indices []int) {
	files.Records{Size: p.record, N: p.n}.Advise(ctx, p.fsys, p.name, indices)
}

// Open opens the file and makes a Reader of it, which holds the file open until
// it is closed.
func (p *File) Open() (dataset.Reader, error) {
	f, at, err := p.open()
	if err != nil {
		return nil, fmt.Errorf("packed: read %s: %w", p.name, err)
	}
	r := &reader{File: p, file: f, at: at}
	if p.record <= files.Small && len(p.spec) > 1 {
		r.scratch = make([]byte, p.record)
	}
	return r, nil
}

func (p *File) open() (fs.File, io.ReaderAt, error) {
	f, _, err := files.Open(p.fsys, p.name)
	if err != nil {
		return nil, nil, err
	}
	at, err := files.ReaderAt(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, at, nil
}

// castagnoli is the table of CRC-32C, which processors compute in hardware.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// unchecked reports whether the checksum of sample i is still to be compared.
func (p *File) unchecked(i int) bool {
	return p.sums != nil && p.checked[i/32].Load()&(1<<(i%32)) == 0
}

// check compares the checksum of sample i and notes if it is right.
func (p *File) check(i int, sum uint32) error {
	if want := p.sums[i]; sum != want {
		return fmt.Errorf("the sample at byte %d is damaged: its CRC-32C is %08x, want %08x", int64(i)*p.record, sum, want)
	}
	p.checked[i/32].Or(1 << (i % 32))
	return nil
}
