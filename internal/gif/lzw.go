package gif

import (
	"errors"
	"io"
)

const (
	maxBits = 12
	maxCode = 1 << maxBits
)

// A table turns codes of variable length (LZW: appendix F of the specification)
// into strings of pixels. It is as lenient, and as strict, as Pillow's.
type table struct {
	data  []byte // blocks that have not been begun
	block []byte // the rest of the block that has
	acc   uint32 // the next n bits, from the lowest
	n     int

	bits   int // of the smallest codes, less one
	size   int // of the next code
	free   int // the next entry
	before int // the code before, or -1 right after a clear code
	first  uint8
	link   [maxCode]uint16
	last   [maxCode]uint8 // pixel of an entry's string
	string [maxCode]uint8 // the next one, at the end
}

var (
	errCode = errors.New("corrupt code")
	errEnd  = errors.New("codes end before the image")
)

func (t *table) open(data []byte, bits int) {
	t.data, t.block, t.acc, t.n = data, nil, 0, 0
	t.bits = bits
	t.reset()
}

func (t *table) reset() {
	t.size, t.free, t.before = t.bits+1, 1<<t.bits+2, -1
}

// code takes the next code. Blocks have to be whole, and an empty one is only
// that.
func (t *table) code() (int, error) {
	for t.n < t.size {
		if len(t.block) == 0 {
			if len(t.data) == 0 || len(t.data) < 1+int(t.data[0]) {
				return 0, io.ErrUnexpectedEOF
			}
			n := 1 + int(t.data[0])
			t.block, t.data = t.data[1:n], t.data[n:]
			continue
		}
		t.acc |= uint32(t.block[0]) << t.n
		t.block = t.block[1:]
		t.n += 8
	}
	c := int(t.acc & (1<<t.size - 1))
	t.acc >>= t.size
	t.n -= t.size
	return c, nil
}

// next is the string of the next code that has one, valid until the call after.
func (t *table) next() ([]uint8, error) {
	clear := 1 << t.bits
	c, err := t.code()
	for ; err == nil && c == clear; c, err = t.code() {
		t.reset()
	}
	switch {
	case err != nil:
		return nil, err
	case c == clear+1:
		return nil, errEnd
	case t.before < 0:
		if c > clear {
			return nil, errCode
		}
		t.first, t.before = uint8(c), c
		t.string[maxCode-1] = t.first
		return t.string[maxCode-1:], nil
	case c > t.free:
		return nil, errCode
	}
	at, code := maxCode, c
	if c == t.free {
		at--
		t.string[at] = t.first
		code = t.before
	}
	for code >= clear {
		if at == 0 || code >= maxCode {
			return nil, errCode
		}
		at--
		t.string[at] = t.last[code]
		code = int(t.link[code])
	}
	if at == 0 {
		return nil, errCode
	}
	at--
	t.first = uint8(code)
	t.string[at] = t.first
	if t.free < maxCode {
		t.last[t.free], t.link[t.free] = t.first, uint16(t.before)
		if t.free == 1<<t.size-1 && t.size < maxBits {
			t.size++
		}
		t.free++
	}
	t.before = c
	return t.string[at:], nil
}
