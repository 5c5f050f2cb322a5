package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

var errDelta = errors.New("a page of differences is damaged")

// delta reads integers as differences, in blocks of some miniblocks, each with its number
// of bits (DELTA_BINARY_PACKED).
type delta struct {
	data   []byte
	minis  int    // miniblocks of a block
	each   int    // numbers of a miniblock
	left   uint64 // numbers
	first  bool   // whether the first number was read
	value  int64
	least  int64  // of the differences of a block
	widths []byte // of the miniblocks that follow
	mini   []byte // the miniblock that is read
	width  int
	bit    int // of mini
	inMini int // numbers left of it
}

const maxMini = 1 << 20 // numbers of a miniblock; writers use 32

func newDelta(data []byte) (delta, error) {
	d := delta{data: data}
	block, minis := d.uvarint(), d.uvarint()
	d.left = d.uvarint()
	v := d.uvarint()
	if d.data == nil || minis < 1 || minis > maxMini || block%minis != 0 || block/minis%8 != 0 || block/minis < 1 || block/minis > maxMini {
		return d, errDelta
	}
	d.minis, d.each = int(minis), int(block/minis)
	d.value = int64(v>>1) ^ -int64(v&1)
	return d, nil
}

// uvarint reads a number. After an error data is nil.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.data = nil
		return 0
	}
	d.data = d.data[n:len(d.data):len(d.data)]
	return v
}

func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	d.left--
	if !d.first {
		d.first = true
		return d.value, nil
	}
	if d.inMini == 0 {
		if err := d.begin(); err != nil {
			return 0, err
		}
	}
	d.inMini--
	v, ok := unpack(d.mini, d.bit, d.width)
	if !ok {
		return 0, io.ErrUnexpectedEOF
	}
	d.bit += d.width
	d.value += d.least + int64(v)
	return d.value, nil
}

// begin begins a miniblock, and a block if there are no more in this one.
func (d *delta) begin() error {
	if len(d.widths) == 0 {
		v := d.uvarint()
		if d.data == nil || len(d.data) < d.minis {
			return io.ErrUnexpectedEOF
		}
		d.least = int64(v>>1) ^ -int64(v&1)
		d.widths, d.data = d.data[:d.minis], d.data[d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return errDelta
	}
	size := min(d.each/8*d.width, len(d.data))
	d.mini, d.data = d.data[:size], d.data[size:]
	d.bit, d.inMini = 0, d.each
	return nil
}

// rest passes over all numbers, of which there are at most n, and returns what follows them. A
// miniblock takes one step: numbers without bits are many in few bytes.
func (d delta) rest(n int) ([]byte, error) {
	if d.left > uint64(n) {
		return nil, fmt.Errorf("%d lengths of %d values", d.left, n)
	}
	for d.left = max(d.left, 1) - 1; d.left > 0; { // the first number is in the header
		if err := d.begin(); err != nil {
			return nil, err
		}
		k := min(d.left, uint64(d.each))
		if int64(k)*int64(d.width) > 8*int64(len(d.mini)) {
			return nil, io.ErrUnexpectedEOF
		}
		d.left -= k
	}
	return d.data, nil
}

type deltaIntegers struct {
	delta
	width int
	value [8]byte
}

func (d *deltaIntegers) next() ([]byte, error) {
	v, err := d.delta.next()
	binary.LittleEndian.PutUint64(d.value[:], uint64(v))
	return d.value[:d.width], err
}

// deltaLengths reads texts after all their lengths (DELTA_LENGTH_BYTE_ARRAY).
type deltaLengths struct {
	lengths delta
	data    []byte
}

func newDeltaLengths(data []byte, n int) (*deltaLengths, error) {
	lengths, err := newDelta(data)
	if err != nil {
		return nil, err
	}
	texts, err := lengths.rest(n)
	return &deltaLengths{lengths, texts}, err
}

func (d *deltaLengths) next() ([]byte, error) {
	n, err := d.lengths.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(d.data)) {
		return nil, io.ErrUnexpectedEOF
	}
	v := d.data[:n]
	d.data = d.data[n:]
	return v, nil
}

// deltaStrings reads texts, of each what differs from the one before (DELTA_BYTE_ARRAY).
type deltaStrings struct {
	prefixes delta
	suffixes *deltaLengths
	value    []byte
	width    int // of all values, or -1
}

func newDeltaStrings(data []byte, n, width int) (*deltaStrings, error) {
	prefixes, err := newDelta(data)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.rest(n)
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest, n)
	return &deltaStrings{prefixes: prefixes, suffixes: suffixes, width: width}, err
}

func (d *deltaStrings) next() ([]byte, error) {
	n, err := d.prefixes.next()
	if err != nil {
		return nil, err
	}
	suffix, err := d.suffixes.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(d.value)) || len(suffix) > math.MaxInt32-int(n) {
		return nil, errDelta
	}
	d.value = append(d.value[:n], suffix...)
	if d.width >= 0 && len(d.value) != d.width {
		return nil, errDelta
	}
	return d.value, nil
}
