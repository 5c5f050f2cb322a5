package packed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

const (
	tailBytes      = 40
	tailMagic      = "\x89penstock\r\n"
	tailVersion    = 2
	maxDescription = 64 << 20 // bytes: a million class names of 60 letters
	maxFields      = 1000
	maxName        = 4 << 10 // bytes; the rest is cut off
	sumBytes       = 4
	endBytes       = 8
)

// Where the parts of the tail begin.
const (
	tailRecords     = 0
	tailDescription = 8
	tailSamples     = 16
	tailSum         = 24
	tailName        = 28
)

// A trailer follows the samples of a packed file and describes them.
type trailer struct {
	spec    dataset.Spec
	layout  layout
	classes []string
	source  string
	sums    []uint32
	named   bool
	names   []string // of the samples, if named
}

// description is the trailer's JSON.
type description struct {
	Fields    []descriptionField `json:"fields"`
	ByteOrder string             `json:"byte_order"` // little or big
	Classes   []string           `json:"classes,omitempty"`
	Source    string             `json:"source,omitempty"`
	Named     bool               `json:"named,omitempty"`
}

type descriptionField struct {
	Name   string       `json:"name"`
	Dtype  string       `json:"dtype"`
	Shape  []int        `json:"shape,omitempty"`
	Ragged bool         `json:"ragged,omitempty"`
	Kind   dataset.Kind `json:"kind,omitzero"`
	Of     string       `json:"of,omitempty"`
}

func byteOrder() string {
	if !bulk.LittleEndian() {
		return "big"
	}
	return "little"
}

// encode is the trailer's bytes in a file.
func (t *trailer) encode() ([]byte, error) {
	d := description{ByteOrder: byteOrder(), Classes: t.classes, Source: t.source, Named: t.named}
	for _, f := range t.spec {
		d.Fields = append(d.Fields, descriptionField{f.Name, f.Dtype.String(), f.Shape, f.Ragged, f.Kind, f.Of})
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if len(text) > maxDescription || len(t.spec) > maxFields {
		return nil, fmt.Errorf("description of %d fields and %d bytes: want at most %d and %d", len(t.spec), len(text), maxFields, maxDescription)
	}
	to := make([]byte, 0, sumBytes*len(t.sums)+endBytes*len(t.layout.ends)+len(text)+tailBytes)
	for _, sum := range t.sums {
		to = binary.LittleEndian.AppendUint32(to, sum)
	}
	for _, end := range t.layout.ends {
		to = binary.LittleEndian.AppendUint64(to, uint64(end))
	}
	for _, name := range t.names {
		to = append(binary.AppendUvarint(to, uint64(len(name))), name...)
	}
	to = append(to, text...)
	to = binary.LittleEndian.AppendUint64(to, uint64(t.layout.start(len(t.sums))))
	to = binary.LittleEndian.AppendUint64(to, uint64(len(text)))
	to = binary.LittleEndian.AppendUint64(to, uint64(len(t.sums)))
	to = binary.LittleEndian.AppendUint32(to, crc32.Checksum(to, castagnoli()))
	to = append(to, tailMagic...)
	return append(to, tailVersion), nil
}

// readTrailer reads the trailer of a file of that size. It returns nil if there is
// none.
func readTrailer(at io.ReaderAt, size int64) (*trailer, error) {
	if size < tailBytes {
		return nil, nil
	}
	tail := make([]byte, tailBytes)
	if err := files.ReadFull(at, tail, size-tailBytes); err != nil {
		return nil, fmt.Errorf("last %d of %d bytes: %w", tailBytes, size, err)
	}
	if !bytes.Equal(tail[tailName:][:len(tailMagic)], []byte(tailMagic)) {
		return nil, nil
	}
	if v := tail[tailBytes-1]; v != tailVersion {
		return nil, fmt.Errorf("byte %d: version %d of the layout: want %d", size-1, v, tailVersion)
	}
	// What the tail says is compared with the size of the file, so that no more
	// memory is allocated than the file has bytes.
	records := binary.LittleEndian.Uint64(tail[tailRecords:])
	described := binary.LittleEndian.Uint64(tail[tailDescription:])
	samples := binary.LittleEndian.Uint64(tail[tailSamples:])
	rest := uint64(size - tailBytes)
	if records > rest {
		return nil, fmt.Errorf("byte %d: samples of %d bytes before the last %d of %d", size-tailBytes, records, tailBytes, size)
	}
	if rest -= records; described > min(rest, maxDescription) {
		return nil, fmt.Errorf("byte %d: description of %d bytes before the last %d of %d", size-tailBytes+tailDescription, described, tailBytes, size)
	}
	if rest -= described; samples > min(rest/sumBytes, math.MaxInt/sumBytes) {
		return nil, fmt.Errorf("byte %d: %d samples in %d bytes", size-tailBytes+tailSamples, samples, rest)
	}
	// ReadAll allocates as it reads, so a file that only claims its size takes no
	// more memory than the bytes it has.
	start := int64(records)
	table, err := io.ReadAll(io.NewSectionReader(at, start, size-start-tailBytes))
	if err == nil && int64(len(table)) < size-start-tailBytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("trailer at byte %d: %w", start, err)
	}
	sum := crc32.Update(crc32.Checksum(table, castagnoli()), castagnoli(), tail[:tailSum])
	if want := binary.LittleEndian.Uint32(tail[tailSum:]); sum != want {
		return nil, fmt.Errorf("trailer at byte %d is damaged: its CRC-32C is %08x, want %08x", start, sum, want)
	}
	t := &trailer{sums: make([]uint32, samples)}
	for i := range t.sums {
		t.sums[i] = binary.LittleEndian.Uint32(table[sumBytes*i:])
	}
	text := table[uint64(len(table))-described:]
	if err := t.parse(text); err != nil {
		return nil, fmt.Errorf("description at byte %d: %w", size-tailBytes-int64(described), err)
	}
	if err := t.readTables(table[sumBytes*samples:uint64(len(table))-described], start); err != nil {
		return nil, fmt.Errorf("byte %d: %w", start+int64(sumBytes*samples), err)
	}
	return t, nil
}

// readTables reads the ends of the ragged fields and the names. The samples have
// that many bytes in all.
func (t *trailer) readTables(table []byte, records int64) error {
	n := len(t.sums)
	if r := t.layout.ragged; r > 0 {
		if n > len(table)/endBytes/r {
			return fmt.Errorf("the ends of %d ragged fields of %d samples in %d bytes", r, n, len(table))
		}
		t.layout.ends = make([]int64, n*r)
		for k := range t.layout.ends {
			end := binary.LittleEndian.Uint64(table[endBytes*k:])
			if end > uint64(records) || int64(end) < t.layout.end(k) {
				return fmt.Errorf("ragged field %d of sample %d ends at %d, after %d of %d bytes", k%r, k/r, end, t.layout.end(k), records)
			}
			t.layout.ends[k] = int64(end)
		}
		if err := t.checkElements(); err != nil {
			return err
		}
		table = table[endBytes*n*r:]
	}
	if high, low := bits.Mul64(uint64(n), uint64(t.layout.fixed)); high > 0 || low > uint64(records) || t.layout.start(n) != records {
		return fmt.Errorf("%d samples of %d bytes each and %d of ragged fields, but there are %d bytes before the checksums", n, t.layout.fixed, t.layout.end(len(t.layout.ends)), records)
	}
	if t.named {
		t.names = make([]string, n)
		for i := range t.names {
			size, used := binary.Uvarint(table)
			if used <= 0 || size > uint64(len(table)-used) {
				return fmt.Errorf("the name of sample %d exceeds the names", i)
			}
			t.names[i] = string(table[used:][:size])
			table = table[uint64(used)+size:]
		}
	}
	if len(table) > 0 {
		return fmt.Errorf("%d bytes before the description", len(table))
	}
	return nil
}

// checkElements checks that ragged fields have whole elements.
func (t *trailer) checkElements() error {
	j := 0
	for _, f := range t.spec {
		if !f.Ragged {
			continue
		}
		for i := range t.sums {
			if size := t.layout.size(i, j); size%int64(f.Bytes()) != 0 {
				return fmt.Errorf("ragged field %d of sample %d has %d bytes, want a multiple of %d", j, i, size, f.Bytes())
			}
		}
		j++
	}
	return nil
}

// parse reads the description. Unknown keys are errors.
func (t *trailer) parse(text []byte) error {
	var d description
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err := from.Decode(&d); err != nil {
		return err
	}
	if from.InputOffset() != int64(len(text)) {
		return fmt.Errorf("%d bytes after it", int64(len(text))-from.InputOffset())
	}
	if d.ByteOrder != byteOrder() {
		return fmt.Errorf("byte order %q: this machine reads %q", d.ByteOrder, byteOrder())
	}
	if len(d.Fields) > maxFields {
		return fmt.Errorf("%d fields: want at most %d", len(d.Fields), maxFields)
	}
	var errs []error
	for _, f := range d.Fields {
		dtype, err := dataset.ParseDtype(f.Dtype)
		if err != nil {
			errs = append(errs, fmt.Errorf("field %q: %w", f.Name, err))
		}
		t.spec = append(t.spec, dataset.Field{Name: f.Name, Dtype: dtype, Shape: f.Shape, Ragged: f.Ragged, Kind: f.Kind, Of: f.Of})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if t.layout, err = layoutOf(t.spec); err != nil {
		return err
	}
	t.classes, t.source, t.named = d.Classes, d.Source, d.Named
	return nil
}

// A layout says where samples are in a file.
type layout struct {
	fixed  int64   // bytes of a sample's fields that are not ragged
	ragged int     // how many fields are ragged
	ends   []int64 // of the ragged fields of all samples: bytes of ragged fields up to there
}

// layoutOf is the layout of a file without samples.
func layoutOf(spec dataset.Spec) (l layout, err error) {
	if err := spec.Validate(); err != nil {
		return l, err
	}
	for _, f := range spec {
		if f.Ragged {
			l.ragged++
		} else {
			l.fixed += int64(f.Bytes())
		}
	}
	return l, nil
}

// recordSize is the size of a sample in bytes. No field may be ragged.
func recordSize(spec dataset.Spec) (int64, error) {
	l, err := layoutOf(spec)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, f := range spec {
		if f.Ragged {
			errs = append(errs, fmt.Errorf("field %q is ragged: want a fixed size", f.Name))
		}
	}
	return l.fixed, errors.Join(errs...)
}

// end is where the k-th ragged field of all samples ends, counting from 1.
func (l *layout) end(k int) int64 {
	if k == 0 {
		return 0
	}
	return l.ends[k-1]
}

// start is the offset of sample i, and of the end of the last one if i is their number.
func (l *layout) start(i int) int64 { return int64(i)*l.fixed + l.end(i*l.ragged) }

// size is the size of the j-th ragged field of sample i, counting from 0.
func (l *layout) size(i, j int) int64 {
	k := i*l.ragged + j
	return l.end(k+1) - l.end(k)
}

// add adds the size of the next ragged field.
func (l *layout) add(size int) { l.ends = append(l.ends, l.end(len(l.ends))+int64(size)) }
