package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// values reads the values of a page that are not null, one after the other. A value is
// valid until the next one.
type values interface {
	next() ([]byte, error)
}

// newValues reads n values or fewer of an encoding.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/.
func (p *pageReader) newValues(e format.Encoding, data []byte, n int) (values, error) {
	width := p.width()
	switch {
	case e == format.Plain && p.Physical == format.Boolean:
		return newBools(data), nil
	case e == format.Plain && width < 0:
		return &byteArrays{data}, nil
	case e == format.Plain:
		return &fixedValues{data, width}, nil
	case e == plainDictionary || e == format.RLEDictionary:
		switch {
		case p.dictionary == nil:
			return nil, errors.New("a page needs a dictionary, and there is none")
		case len(data) == 0:
			return &fixedValues{nil, 1}, nil // nothing but nulls
		case data[0] > 32:
			return nil, errRuns
		}
		i := &indices{dictionary: p.dictionary}
		i.begin(data[1:], int(data[0]))
		return i, nil
	case e == format.RLE && p.Physical == format.Boolean: // parquet-go reads a run of 13 trues as a true, seven falses, and so on
		data, _, err := prefixed(data)
		b := &runBools{}
		b.begin(data, 1)
		return b, err
	case e == format.DeltaBinaryPacked && (p.Physical == format.Int32 || p.Physical == format.Int64):
		if _, err := differences(data, n, 8*width); err != nil {
			return nil, err
		}
		return p.decoded(e, data, n*width)
	case e == format.ByteStreamSplit && width > 0 && p.Physical != format.Boolean:
		return p.decoded(e, data, len(data))
	case e == format.DeltaLengthByteArray && width < 0:
		return p.newTexts(data, n, false)
	case e == format.DeltaByteArray && (width < 0 || p.Physical == format.FixedLenByteArray):
		return p.newTexts(data, n, true)
	}
	return nil, fmt.Errorf("the encoding %v of such values is not supported", e)
}

// decoded has parquet-go decode values of fixed size, of size bytes together or fewer.
func (p *pageReader) decoded(e format.Encoding, data []byte, size int) (values, error) {
	if err := p.codecs.budget.Memory(int64(size)); err != nil {
		return nil, err
	}
	var t pq.Type
	switch p.Physical {
	case format.Int32:
		t = pq.Int32Type
	case format.Int64:
		t = pq.Int64Type
	case format.Float:
		t = pq.FloatType
	case format.Double:
		t = pq.DoubleType
	default:
		t = pq.FixedLenByteArrayType(p.Length)
	}
	f := &fixedValues{width: p.width()}
	err := guarded(func() error {
		v, err := t.Decode(t.NewValues(make([]byte, 0, size), nil), data, pq.LookupEncoding(e))
		f.data, _ = v.Data()
		return err
	})
	return f, err
}

// prefixed cuts off data that begins with its length.
func prefixed(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return data[4 : 4+n : 4+n], data[4+n:], nil
}

type fixedValues struct {
	data  []byte
	width int
}

func (f *fixedValues) next() ([]byte, error) {
	if len(f.data) < f.width {
		return nil, io.ErrUnexpectedEOF
	}
	v := f.data[:f.width]
	f.data = f.data[f.width:]
	return v, nil
}

type byteArrays struct{ data []byte }

func (b *byteArrays) next() (v []byte, err error) {
	v, b.data, err = prefixed(b.data)
	return v, err
}

// bools has the bytes of false and true.
var bools = [2][]byte{{0}, {1}}

// runBools reads bools in runs, or packed.
type runBools struct{ runs }

// newBools reads packed bools: they are one run.
func newBools(data []byte) *runBools {
	return &runBools{runs{width: 1, packed: data, count: 8 * uint64(len(data))}}
}

func (r *runBools) next() ([]byte, error) {
	v, err := r.runs.next()
	return bools[v&1], err
}

// A dictionary is the different values of a chunk.
type dictionary struct {
	data  []byte
	width int   // of each, or -1
	ends  []int // of each with its length, if the width varies
	n     int
}

// newDictionary reads n values.
func newDictionary(l *leaf, data []byte, n int) (*dictionary, error) {
	d := &dictionary{data: data, width: l.width(), n: n}
	if l.Physical == format.Boolean {
		return nil, errors.New("a dictionary of bools")
	}
	if d.width >= 0 {
		if len(data)/d.width < n {
			return nil, fmt.Errorf("a dictionary: %w", io.ErrUnexpectedEOF)
		}
		return d, nil
	}
	rest := data
	for range n {
		_, left, err := prefixed(rest)
		if err != nil {
			return nil, fmt.Errorf("a dictionary: %w", err)
		}
		rest = left
		d.ends = append(d.ends, len(data)-len(rest))
	}
	return d, nil
}

func (d *dictionary) at(k int) []byte {
	if d.width >= 0 {
		return d.data[k*d.width:][:d.width]
	}
	begin := 4
	if k > 0 {
		begin += d.ends[k-1]
	}
	return d.data[begin:d.ends[k]]
}

type indices struct {
	runs
	dictionary *dictionary
}

func (i *indices) next() ([]byte, error) {
	k, err := i.runs.next()
	if err != nil {
		return nil, err
	}
	if uint64(k) >= uint64(i.dictionary.n) {
		return nil, fmt.Errorf("value %d of a dictionary of %d", k, i.dictionary.n)
	}
	return i.dictionary.at(int(k)), nil
}

var errDelta = errors.New("a page of differences is damaged")

// differences passes over at most n integers of bits bits as differences, in blocks of some
// miniblocks, each with its number of bits (DELTA_BINARY_PACKED), and returns what follows them.
// parquet-go, which decodes them, allocates as many as the header says, and does not say where they
// end. A miniblock takes one step: numbers without bits are many in few bytes.
func differences(data []byte, n, bits int) (rest []byte, err error) {
	number := func() (v uint64) {
		var k int
		if v, k = binary.Uvarint(data); k <= 0 {
			err = errDelta
			return 0
		}
		data = data[k:]
		return v
	}
	block, minis, left := number(), number(), number()
	number() // the first one
	switch {
	case err != nil || minis < 1 || minis > block || block > math.MaxInt32:
		return nil, errDelta
	case left > uint64(n):
		return nil, fmt.Errorf("%d lengths or differences of %d values", left, n)
	}
	each := block / minis
	for left = max(left, 1) - 1; left > 0; {
		number() // the least difference
		if err != nil || uint64(len(data)) < minis {
			return nil, io.ErrUnexpectedEOF
		}
		var widths []byte
		widths, data = data[:minis], data[minis:]
		for k := 0; k < len(widths) && left > 0; k++ {
			width, count := uint64(widths[k]), min(left, each)
			if width > uint64(bits) {
				return nil, errDelta
			}
			size := min(each/8*width, uint64(len(data))) // the last one may be cut short
			if count*width > 8*size {
				return nil, io.ErrUnexpectedEOF
			}
			data, left = data[size:], left-count
		}
	}
	return data, nil
}

// texts reads texts after all their lengths (DELTA_LENGTH_BYTE_ARRAY), and of each perhaps only what
// differs from the one before, after the lengths of what does not (DELTA_BYTE_ARRAY).
type texts struct {
	prefixes []int32 // or nil
	lengths  []int32 // of the rest
	data     []byte
	value    []byte
	width    int // of all values, or -1
}

func (p *pageReader) newTexts(data []byte, n int, prefixes bool) (_ *texts, err error) {
	t := &texts{width: p.width()}
	if prefixes {
		if t.prefixes, data, err = p.lengths(data, n); err != nil {
			return nil, err
		}
	}
	t.lengths, t.data, err = p.lengths(data, n)
	if prefixes && len(t.prefixes) != len(t.lengths) {
		err = errDelta
	}
	return t, err
}

// lengths reads at most n lengths, and returns what follows them.
func (p *pageReader) lengths(data []byte, n int) (lengths []int32, rest []byte, err error) {
	if rest, err = differences(data, n, 32); err != nil {
		return nil, nil, err
	}
	if err := p.codecs.budget.Memory(4 * int64(n)); err != nil {
		return nil, nil, err
	}
	err = guarded(func() (err error) {
		lengths, err = pq.DeltaBinaryPacked.DecodeInt32(make([]int32, 0, n), data[:len(data)-len(rest):len(data)-len(rest)])
		return err
	})
	return lengths, rest, err
}

func (t *texts) next() ([]byte, error) {
	if len(t.lengths) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	n := int(t.lengths[0])
	t.lengths = t.lengths[1:]
	if n < 0 || n > len(t.data) {
		return nil, io.ErrUnexpectedEOF
	}
	v := t.data[:n:n]
	t.data = t.data[n:]
	if t.prefixes != nil {
		k := int(t.prefixes[0])
		t.prefixes = t.prefixes[1:]
		if k < 0 || k > len(t.value) || n > math.MaxInt32-k {
			return nil, errDelta
		}
		t.value = append(t.value[:k], v...)
		v = t.value
	}
	if t.width >= 0 && len(v) != t.width {
		return nil, errDelta
	}
	return v, nil
}
