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

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
)

const (
	tailBytes      = 32
	tailMagic      = "\x89penstock\r\n"
	tailVersion    = 1
	maxDescription = 64 << 20 // bytes: a million class names of 60 letters
	maxFields      = 1000
	sumBytes       = 4
)

// Where the parts of the tail begin.
const (
	tailDescription = 0
	tailSamples     = 8
	tailSum         = 16
	tailName        = 20
)

// A trailer follows the samples of a packed file and describes them.
type trailer struct {
	spec    dataset.Spec
	record  int64
	classes []string
	sums    []uint32
}

// description is the trailer's JSON.
type description struct {
	Fields    []descriptionField `json:"fields"`
	ByteOrder string             `json:"byte_order"` // little or big
	Classes   []string           `json:"classes,omitempty"`
}

type descriptionField struct {
	Name  string `json:"name"`
	Dtype string `json:"dtype"`
	Shape []int  `json:"shape,omitempty"`
}

func byteOrder() string {
	if !bulk.LittleEndian() {
		return "big"
	}
	return "little"
}

// encode is the trailer's bytes in a file.
func (t *trailer) encode() ([]byte, error) {
	d := description{ByteOrder: byteOrder(), Classes: t.classes}
	for _, f := range t.spec {
		d.Fields = append(d.Fields, descriptionField{f.Name, dense.Name(f.Dtype), f.Shape})
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if len(text) > maxDescription || len(t.spec) > maxFields {
		return nil, fmt.Errorf("description of %d fields and %d bytes: want at most %d and %d", len(t.spec), len(text), maxFields, maxDescription)
	}
	to := make([]byte, 0, sumBytes*len(t.sums)+len(text)+tailBytes)
	for _, sum := range t.sums {
		to = binary.LittleEndian.AppendUint32(to, sum)
	}
	to = append(to, text...)
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
	if n, err := at.ReadAt(tail, size-tailBytes); n < tailBytes {
		return nil, fmt.Errorf("last %d of %d bytes: %w", tailBytes, size, unexpected(err))
	}
	if !bytes.Equal(tail[tailName:][:len(tailMagic)], []byte(tailMagic)) {
		return nil, nil
	}
	if v := tail[tailBytes-1]; v != tailVersion {
		return nil, fmt.Errorf("byte %d: version %d of the layout: want %d", size-1, v, tailVersion)
	}
	// The number of samples is compared with the size of the file below. Until then
	// it is only known that the file has room for their checksums.
	described := binary.LittleEndian.Uint64(tail[tailDescription:])
	samples := binary.LittleEndian.Uint64(tail[tailSamples:])
	rest := uint64(size - tailBytes)
	if described > min(rest, maxDescription) {
		return nil, fmt.Errorf("byte %d: description of %d bytes before the last %d of %d", size-tailBytes, described, tailBytes, size)
	}
	if rest -= described; samples > rest/sumBytes {
		return nil, fmt.Errorf("byte %d: %d samples in %d bytes", size-tailBytes+tailSamples, samples, rest)
	}
	if samples > math.MaxInt/sumBytes {
		return nil, fmt.Errorf("byte %d: the checksums of %d samples are more than memory can hold", size-tailBytes+tailSamples, samples)
	}
	start := int64(rest - sumBytes*samples)
	// ReadAll allocates as it reads, so a file that only claims its size takes no
	// more memory than the bytes it has.
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
	if err := t.parse(table[sumBytes*samples:]); err != nil {
		return nil, fmt.Errorf("description at byte %d: %w", start+int64(sumBytes*samples), err)
	}
	if start%t.record != 0 || uint64(start/t.record) != samples {
		return nil, fmt.Errorf("byte %d: %d samples of %d bytes each, but there are %d bytes before the checksums", size-tailBytes+tailSamples, samples, t.record, start)
	}
	return t, nil
}

func unexpected(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
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
		dtype, err := dense.DtypeNamed(f.Dtype)
		if err != nil {
			errs = append(errs, fmt.Errorf("field %q: %w", f.Name, err))
		}
		t.spec = append(t.spec, dataset.Field{Name: f.Name, Dtype: dtype, Shape: f.Shape})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if t.record, err = recordSize(t.spec); err != nil {
		return err
	}
	t.classes = d.Classes
	return nil
}
