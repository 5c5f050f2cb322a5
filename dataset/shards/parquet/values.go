package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The encodings of values.
const (
	plain                = 0
	plainDictionary      = 2
	runLength            = 3
	deltaBinaryPacked    = 5
	deltaLengthByteArray = 6
	deltaByteArray       = 7
	dictionaryRunLength  = 8
	byteStreamSplit      = 9
)

// values reads the values of a page that are not null, one after the other. A value is
// valid until the next one.
type values interface {
	next() ([]byte, error)
}

// newValues reads n values or fewer of an encoding.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/.
func newValues(encoding int, l *leaf, data []byte, n int, d *dictionary) (values, error) {
	width := l.width()
	integers := l.Physical == int32Type || l.Physical == int64Type
	switch {
	case encoding == plain && l.Physical == boolean:
		return &packedBools{data: data}, nil
	case encoding == plain && width < 0:
		return &byteArrays{data}, nil
	case encoding == plain:
		return &fixedValues{data, width}, nil
	case encoding == plainDictionary || encoding == dictionaryRunLength:
		switch {
		case d == nil:
			return nil, errors.New("a page needs a dictionary, and there is none")
		case len(data) == 0:
			return &fixedValues{nil, 1}, nil // nothing but nulls
		case data[0] > 32:
			return nil, errRuns
		}
		return &indices{hybrid{data: data[1:], width: int(data[0])}, d}, nil
	case encoding == runLength && l.Physical == boolean:
		data, _, err := prefixed(data)
		return &runBools{hybrid: hybrid{data: data, width: 1}}, err
	case encoding == deltaBinaryPacked && integers:
		d, err := newDelta(data)
		return &deltaIntegers{delta: d, width: width}, err
	case encoding == deltaLengthByteArray && width < 0:
		return newDeltaLengths(data, n)
	case encoding == deltaByteArray && (width < 0 || l.Physical == fixedLen):
		return newDeltaStrings(data, n, width)
	case encoding == byteStreamSplit && width > 0 && l.Physical != boolean:
		if len(data)%width != 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return &splitStreams{data: data, value: make([]byte, width)}, nil
	}
	return nil, fmt.Errorf("the encoding %d of such values is not supported", encoding)
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

type packedBools struct {
	data []byte
	bit  int
}

func (p *packedBools) next() ([]byte, error) {
	v, ok := unpack(p.data, p.bit, 1)
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	p.bit++
	return bools[v], nil
}

type runBools struct{ hybrid }

func (r *runBools) next() ([]byte, error) {
	v, err := r.hybrid.next()
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
	if l.Physical == boolean {
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
	hybrid
	dictionary *dictionary
}

func (i *indices) next() ([]byte, error) {
	k, err := i.hybrid.next()
	if err != nil {
		return nil, err
	}
	if uint64(k) >= uint64(i.dictionary.n) {
		return nil, fmt.Errorf("value %d of a dictionary of %d", k, i.dictionary.n)
	}
	return i.dictionary.at(int(k)), nil
}

// splitStreams reads values whose first bytes stand together, then the second ones, and so
// on.
type splitStreams struct {
	data  []byte
	value []byte
	at    int
}

func (s *splitStreams) next() ([]byte, error) {
	n := len(s.data) / len(s.value)
	if s.at >= n {
		return nil, io.ErrUnexpectedEOF
	}
	for k := range s.value {
		s.value[k] = s.data[k*n+s.at]
	}
	s.at++
	return s.value, nil
}
