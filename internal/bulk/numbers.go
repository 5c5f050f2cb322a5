package bulk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
)

// longest is the limit of characters in a number.
const longest = 512

// Numbers turns decimal numbers into elements in the machine's byte order. White space and commas separate them.
type Numbers struct {
	src  *Source
	kind reflect.Kind
	size int
	word []byte  // the characters of the current number
	part [8]byte // an element that did not fit the last Read
	left []byte  // the bytes of part that have not been returned
}

// NewNumbers reads numbers from src. They become elements of that kind, an integer of fixed size or a float.
func NewNumbers(src *Source, kind reflect.Kind) *Numbers {
	sizes := map[reflect.Kind]int{reflect.Int8: 1, reflect.Uint8: 1, reflect.Int16: 2, reflect.Uint16: 2, reflect.Int32: 4,
		reflect.Uint32: 4, reflect.Int64: 8, reflect.Uint64: 8, reflect.Float32: 4, reflect.Float64: 8}
	return &Numbers{src: src, kind: kind, size: sizes[kind]}
}

// Read fills p with elements. The last one may continue in the next call.
func (t *Numbers) Read(p []byte) (int, error) {
	n := copy(p, t.left)
	t.left = t.left[n:]
	size := t.size
	for len(p)-n >= size {
		if n += t.integers(p[n:]); len(p)-n < size {
			break
		}
		if err := t.element(p[n : n+size]); err != nil {
			return n, err
		}
		n += size
	}
	if n < len(p) && n == 0 {
		if err := t.element(t.part[:size]); err != nil {
			return n, err
		}
		n = copy(p, t.part[:size])
		t.left = t.part[n:size]
	}
	return n, nil
}

// integers reads the integers that are complete in the buffer into p, and returns how many bytes they have. It stops at
// anything unusual, which is left to element.
func (t *Numbers) integers(p []byte) (n int) {
	if t.kind == reflect.Float32 || t.kind == reflect.Float64 {
		return 0
	}
	size := t.size
	window, _ := t.src.Peek(t.src.Buffered())
	read := 0
	for len(p)-n >= size {
		i := read
		for i < len(window) && separates(window[i]) {
			i++
		}
		negative := i < len(window) && window[i] == '-'
		if negative {
			i++
		}
		first, v := i, uint64(0)
		for i < len(window) && window[i]-'0' <= 9 {
			v = v*10 + uint64(window[i]-'0')
			i++
		}
		const safe = 18 // any number of that many digits fits 64 bits
		if i == len(window) || !separates(window[i]) || i == first || i-first > safe || v > t.most(negative, uint(8*size)) {
			break
		}
		if negative {
			v = -v
		}
		Put(p[n:n+size], v)
		n, read = n+size, i
	}
	_, _ = t.src.Discard(read) // it is in the buffer
	return n
}

// element reads the next number into dst.
func (t *Numbers) element(dst []byte) error {
	if err := t.next(); err != nil {
		return err
	}
	order := binary.NativeEndian
	switch t.kind {
	case reflect.Float32, reflect.Float64:
		v, err := t.float(8 * len(dst))
		if err != nil {
			return fmt.Errorf("%.60q is not a valid %s: %w", t.word, t.kind, err)
		}
		if t.kind == reflect.Float32 {
			order.PutUint32(dst, math.Float32bits(float32(v)))
		} else {
			order.PutUint64(dst, math.Float64bits(v))
		}
		return nil
	}
	v, err := t.integer(uint(8 * len(dst)))
	if err != nil {
		return fmt.Errorf("%.60q is not a valid %s: %w", t.word, t.kind, err)
	}
	Put(dst, v)
	return nil
}

// Put stores the lowest 1, 2, 4 or 8 bytes of v in the machine's order.
func Put(dst []byte, v uint64) {
	switch len(dst) {
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(dst, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(dst, uint32(v))
	case 8:
		binary.NativeEndian.PutUint64(dst, v)
	}
}

// most is the largest magnitude of an integer of that many bits.
func (t *Numbers) most(negative bool, bits uint) uint64 {
	switch signed := t.kind == reflect.Int8 || t.kind == reflect.Int16 || t.kind == reflect.Int32 || t.kind == reflect.Int64; {
	case signed && negative:
		return 1 << (bits - 1)
	case signed:
		return 1<<(bits-1) - 1
	case negative:
		return 0
	}
	return math.MaxUint64 >> (64 - bits)
}

func separates(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' || c == ','
}

// float is the word as a number of that many bits. A NaN may have a sign, which C can print. It becomes the NaN of C and
// NumPy.
func (t *Numbers) float(bits int) (float64, error) {
	if word := bytes.TrimLeft(t.word, "+-"); len(word) == 3 && len(t.word) <= 4 && bytes.EqualFold(word, []byte("nan")) {
		return math.Float64frombits(0x7ff8 << 48), nil
	}
	v, err := strconv.ParseFloat(string(t.word), bits)
	var e *strconv.NumError
	if errors.As(err, &e) {
		err = e.Err
	}
	return v, err
}

// integer is the word as an integer of that many bits, in two's complement.
func (t *Numbers) integer(bits uint) (uint64, error) {
	digits, negative := t.word, false
	if digits[0] == '-' || digits[0] == '+' {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return 0, strconv.ErrSyntax
	}
	most := t.most(negative, bits)
	var v uint64
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 {
			return 0, strconv.ErrSyntax
		}
		if v > (most-min(d, most))/10 || v*10+d > most {
			return 0, strconv.ErrRange
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return v, nil
}

// next reads the next word.
func (t *Numbers) next() error {
	t.word = t.word[:0]
	for {
		c, err := t.src.ReadByte()
		if err == io.EOF && len(t.word) > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if separates(c) {
			if len(t.word) > 0 {
				return nil
			}
			continue
		}
		if t.word = append(t.word, c); len(t.word) > longest {
			return fmt.Errorf("%.60q… has more than %d characters", t.word, longest)
		}
	}
}
