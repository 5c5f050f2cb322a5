// Package packed stores samples in the layout that they have in memory, so that
// they can be read straight into a batch: preprocessed tensors, texts, encoded files,
// and photos that decode faster than JPEG files ([Photos]).
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
//	n × r × uint64 if r > 0 fields are ragged: where they end, see below
//	names          if the samples have names: a varint with the length of each
//	               (encoding/binary), and its text
//	description    JSON: fields (name, dtype, shape, ragged), byte order, class
//	               names, source, and whether the samples have names
//	uint64         length of all records in bytes
//	uint64         length of the description in bytes
//	uint64         n
//	uint32         CRC-32C of everything after the samples up to here
//	11 bytes       "\x89penstock\r\n"
//	uint8          version of the layout: 2
//
// A record is the values of all fields, in the order of the spec, without
// padding. The end of a ragged field is the number of bytes that all ragged fields
// up to and with this one have, of all samples so far. So sample i begins at i times
// the size of the other fields plus the last end of sample i-1.
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
	layout  layout
	n       int
	size    int64 // of the file, in bytes
	classes []string
	source  string
	names   files.Paths     // of the samples, or none
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
	p.spec, p.layout, p.n, p.classes, p.source = t.spec, t.layout, len(t.sums), t.classes, t.source
	p.names = files.NewPaths(t.names)
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
	p := &File{fsys: fsys, name: name, spec: spec, layout: layout{fixed: record}}
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
	record := p.layout.fixed
	if p.size/record > math.MaxInt {
		return fmt.Errorf("%d samples are more than %d", p.size/record, math.MaxInt)
	}
	p.n = int(p.size / record)
	if rest := p.size % record; rest != 0 {
		return fmt.Errorf("file of %d bytes, want a multiple of %d: %d samples and %d bytes", p.size, record, p.n, rest)
	}
	return nil
}

// trailer reads the file's size and its trailer, or nil if it has none.
func (p *File) trailer() (*trailer, error) {
	f, at, size, err := files.OpenAt(p.fsys, p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p.size = size
	return readTrailer(at, size)
}

// Len is the number of samples.
func (p *File) Len() int { return p.n }

// Spec is the spec stored in the file, or the one given to [OpenRaw].
func (p *File) Spec() dataset.Spec { return p.spec }

// Classes are the names of the classes; labels are indices into them. They are
// nil if the file has none.
func (p *File) Classes() []string { return slices.Clone(p.classes) }

// Origin is the description given to [Origin], or "".
func (p *File) Origin() string { return p.source }

// Name is the name of sample i that [Names] stored, such as the path of its photo.
// In a file without names it is the file's name and i, "train.packed, record 2".
// It is "" if i is out of range.
func (p *File) Name(i int) string {
	if dataset.CheckIndex(i, p.n) != nil {
		return ""
	}
	if p.names.Len() > 0 {
		return p.names.At(i)
	}
	return fmt.Sprintf("%s, record %d", p.name, i)
}

// Foresee begins to fetch the samples before they are read: see [dataset.ForeseeFiles].
func (p *File) Foresee(f dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(p.fsys, f, dataset.FileBlocks{
		Len: p.n,
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			from := p.layout.start(i)
			if size := p.layout.start(i+1) - from; size <= atOnce {
				dst = append(dst, dataset.FilePart{Path: p.name, Off: from, Len: size})
			}
			return dst
		},
	})
}

// atOnce is how many bytes of a far file are allocated and read at once, because a layout
// says so.
const atOnce = 64 << 20

// Open opens the file and makes a Reader of it, which holds the file open until
// it is closed.
func (p *File) Open() (dataset.Reader, error) {
	f, at, _, err := files.OpenAt(p.fsys, p.name)
	if err != nil {
		return nil, fmt.Errorf("packed: read %s: %w", p.name, err)
	}
	return &reader{File: p, file: f, at: at, far: files.IsFar(at)}, nil
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
		return fmt.Errorf("the sample at byte %d is damaged: its CRC-32C is %08x, want %08x", p.layout.start(i), sum, want)
	}
	p.checked[i/32].Or(1 << (i % 32))
	return nil
}

// stageCheck lasts while a sample's checksum is computed.
const stageCheck = "check"

type reader struct {
	*File
	file    fs.File
	at      io.ReaderAt
	far     bool   // whether every read of the file is a request to a service
	scratch []byte // for a record of several fields that is read at once
	left    left   // of the latest PlaceParts
}

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	err := r.place(ctx, i, -1, dst)
	if err == nil && r.unchecked(i) {
		dst.Stage(stageCheck)
		var sum uint32
		for k := range dst.Len() {
			sum = crc32.Update(sum, castagnoli(), dst.Cell(k).Bytes())
		}
		err = r.check(i, sum)
	}
	if err != nil {
		return fmt.Errorf("packed: %w", err)
	}
	return nil
}

// PlaceParts leaves a large field out if the sample's checksum has been compared. So
// the first epoch reads and checks everything. Of a far file it leaves nothing out: a part of
// a field would be a request of its own, which takes longer than all of its bytes.
func (r *reader) PlaceParts(ctx context.Context, i, f int, dst dataset.Slot) (int, io.ReaderAt, error) {
	if dataset.CheckIndex(i, r.n) != nil || r.far || r.unchecked(i) || r.layout.start(i+1)-r.layout.start(i) <= files.Small || !r.spec[f].Ragged {
		return 0, nil, r.Place(ctx, i, dst)
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	dst.Stage(dataset.StageRead)
	if err := r.place(ctx, i, f, dst); err != nil {
		return 0, nil, fmt.Errorf("packed: %w", err)
	}
	r.left.ctx = ctx
	return int(r.left.size), &r.left, nil
}

// A field that PlaceParts has left out.
type left struct {
	r      *reader
	ctx    context.Context
	offset int64 // in the file
	size   int64
}

func (l *left) ReadAt(to []byte, offset int64) (int, error) {
	if offset < 0 || offset > l.size-int64(len(to)) {
		return 0, fmt.Errorf("packed: %d bytes from byte %d of a field of %d", len(to), offset, l.size)
	}
	if err := l.r.read(l.ctx, to, l.offset+offset); err != nil {
		return 0, fmt.Errorf("packed: %w", err)
	}
	return len(to), nil
}

// place reads a sample, but only notes where field without is, unless that is -1.
func (r *reader) place(ctx context.Context, i, without int, dst dataset.Slot) error {
	l := &r.layout
	offset := l.start(i)
	size := l.start(i+1) - offset
	if size > math.MaxInt {
		return fmt.Errorf("sample of %d bytes is more than memory can hold", size)
	}
	var rest []byte
	if len(r.spec) > 1 && without < 0 && (size <= files.Small || r.far && size <= atOnce) {
		r.scratch = slices.Grow(r.scratch[:0], int(size))
		rest = r.scratch[:size]
		if err := r.read(ctx, rest, offset); err != nil {
			return err
		}
	}
	j := 0
	for k := range dst.Len() {
		if k == without {
			r.left = left{r: r, offset: offset, size: l.size(i, j)}
			offset += r.left.size
			j++
			continue
		}
		row := dst.Cell(k)
		to := row.Bytes()
		if r.spec[k].Ragged {
			to = row.Grow(int(l.size(i, j)))
			j++
		}
		if rest != nil {
			rest = rest[copy(to, rest):]
			continue
		}
		if err := r.read(ctx, to, offset); err != nil {
			return err
		}
		offset += int64(len(to))
	}
	return nil
}

func (r *reader) read(ctx context.Context, to []byte, offset int64) error {
	n, err := files.ReadAt(ctx, r.at, to, offset)
	if n == len(to) {
		return nil // even if that was the end of the file
	}
	if err == io.EOF || err == nil {
		err = fmt.Errorf("file ended at byte %d, but had %d bytes when it was opened: %w", offset+int64(n), r.size, io.ErrUnexpectedEOF)
	}
	return files.Cause(err)
}

func (r *reader) Close() error { return r.file.Close() }
