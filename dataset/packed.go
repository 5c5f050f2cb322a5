package dataset

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/files"
)

// PackedTensors makes a dataset of one file that holds all samples one right
// after the other, each as in a file of [RawTensors]. Every Reader opens the
// file once and reads samples straight into their slots, without allocation.
// The file must offer io.ReaderAt or io.Seeker, as an os.File does.
//
// [WritePacked] writes such a file with nothing else in it, and NumPy's tofile
// does. A size that is no multiple of a sample's is an error then.
//
// A [Packing] writes one that also describes itself. Its spec may be given, and
// must be the file's, or left nil; with a nil spec a file that does not describe
// itself is an error. A sample is checked against its checksum when it is first
// read, so the first epoch finds all damage and later ones lose no time;
// see [Unchecked]. The layout, all numbers little-endian:
//
//	n × record     the samples, in the byte order that the description names
//	n × uint32     a checksum per sample: CRC-32C (RFC 3720, section 12.1)
//	description    JSON: fields (name, dtype, shape), byte order, class names
//	uint64         length of the description in bytes
//	uint64         n
//	uint32         CRC-32C of everything behind the samples up to here
//	11 bytes       "\x89penstock\r\n"
//	uint8          version of the layout: 1
func PackedTensors(fsys fs.FS, name string, spec Spec, options ...PackedOption) (*Packed, error) {
	p := &Packed{fsys: fsys, name: name, want: -1}
	if spec != nil {
		if _, err := recordSize(spec); err != nil {
			return nil, err
		}
	}
	for _, option := range options {
		option(p)
	}
	if err := p.describe(spec); err != nil {
		return nil, readError(name, err)
	}
	return p, nil
}

// A PackedOption changes what [PackedTensors] does.
type PackedOption func(*Packed)

// Count makes it an error if the file does not hold exactly n samples. A negative
// n allows any number.
func Count(n int) PackedOption {
	return func(p *Packed) { p.want = n }
}

// Unchecked leaves the samples' checksums aside, for files that are known to be
// whole.
func Unchecked() PackedOption {
	return func(p *Packed) { p.trust = true }
}

// Packed is a file of samples, made by [PackedTensors].
type Packed struct {
	fsys    fs.FS
	name    string
	spec    Spec
	record  int64 // bytes
	n       int
	size    int64 // of the file, in bytes
	want    int   // of samples; -1 for as many as there are
	trust   bool  // that samples are not damaged
	classes []string
	sums    []uint32        // of every sample; nil if they are not to be checked
	checked []atomic.Uint32 // a bit per sample: it was read and is not damaged
}

// describe finds out what the file holds. The spec may be nil.
func (p *Packed) describe(spec Spec) error {
	info, err := fs.Stat(p.fsys, p.name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a file")
	}
	f, at, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	p.size = info.Size()
	t, err := readTrailer(at, p.size)
	if err != nil {
		return err
	}
	if t == nil {
		return p.describePlain(spec)
	}
	if spec != nil && !sameSpec(spec, t.spec) {
		return fmt.Errorf("file has the fields %v, want %v", t.spec, spec)
	}
	p.spec, p.record, p.n, p.classes = t.spec, t.record, len(t.sums), t.classes
	if p.want >= 0 && p.n != p.want {
		return fmt.Errorf("file of %d samples, want %d", p.n, p.want)
	}
	if !p.trust {
		p.sums, p.checked = t.sums, make([]atomic.Uint32, (p.n+31)/32)
	}
	return nil
}

// describePlain is for a file that holds samples and nothing else.
func (p *Packed) describePlain(spec Spec) error {
	if spec == nil {
		return fmt.Errorf("file of %d bytes is no packed file written by NewPacking, or only the beginning of one: samples alone need a spec", p.size)
	}
	p.spec = spec
	p.record, _ = recordSize(spec)
	p.n = int(p.size / p.record)
	rest := p.size % p.record
	switch {
	case p.want >= 0 && (p.n != p.want || rest != 0):
		return fmt.Errorf("file of %d bytes, want %d samples of %d bytes each", p.size, p.want, p.record)
	case rest != 0:
		return fmt.Errorf("file of %d bytes, want a multiple of %d: %d samples and %d bytes", p.size, p.record, p.n, rest)
	}
	return nil
}

// Len is the number of samples.
func (p *Packed) Len() int { return p.n }

// Spec is the one given to [PackedTensors], or the file's own.
func (p *Packed) Spec() Spec { return p.spec }

// Classes are the names of the classes, of which labels are indices, if the file
// holds them.
func (p *Packed) Classes() []string { return slices.Clone(p.classes) }

// Checks reports whether samples are checked when they are first read.
func (p *Packed) Checks() bool { return p.sums != nil }

// Name is the file's name with the number of the sample.
func (p *Packed) Name(i int) string {
	if CheckIndex(i, p.n) != nil {
		return ""
	}
	return fmt.Sprintf("%s, record %d", p.name, i)
}

// ReadAhead asks the operating system (Linux or macOS) to read the samples.
func (p *Packed) ReadAhead(ctx context.Context, indices []int) {
	files.Records{Size: p.record, N: p.n}.Advise(ctx, p.fsys, p.name, indices)
}

// Open opens the file.
func (p *Packed) Open() (Reader, error) {
	f, at, err := p.open()
	if err != nil {
		return nil, readError(p.name, err)
	}
	r := &packedReader{Packed: p, file: f, at: at}
	if p.record <= files.Small && len(p.spec) > 1 {
		r.scratch = make([]byte, p.record)
	}
	return r, nil
}

func (p *Packed) open() (fs.File, io.ReaderAt, error) {
	f, err := p.fsys.Open(p.name)
	if err != nil {
		return nil, nil, err
	}
	at, err := files.ReaderAt(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, at, nil
}

// castagnoli is the polynomial of CRC-32C. Processors compute it.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// unchecked reports whether sample i is still to be checked.
func (p *Packed) unchecked(i int) bool {
	return p.sums != nil && p.checked[i/32].Load()&(1<<(i%32)) == 0
}

// check compares sample i's checksum and notes that it is right.
func (p *Packed) check(i int, sum uint32) error {
	if want := p.sums[i]; sum != want {
		return readError(p.name, fmt.Errorf("sample %d at byte %d is damaged: its CRC-32C is %08x, want %08x", i, int64(i)*p.record, sum, want))
	}
	p.checked[i/32].Or(1 << (i % 32))
	return nil
}
