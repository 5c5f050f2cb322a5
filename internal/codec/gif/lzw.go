package gif

import (
	"errors"
	"io"
)

const (
	maxBits = 12
	maxCode = 1 << maxBits
)

// A table turns LZW codes of variable length into strings of pixels. It accepts the
// same codes as Pillow. Source: GIF89a specification, appendix F.
type table struct {
	data  []byte // blocks that have not been read
	block []byte // the rest of the current block
	acc   uint32 // the next n bits, from the lowest
	n     int

	bits   int             // length of the shortest codes, minus one
	size   int             // length of the next code
	free   int             // the next entry
	before int             // the last code, or -1 after a clear code
	first  uint8           // the first pixel of the last string
	link   [maxCode]uint16 // by entry: the code of the string without its last pixel
	last   [maxCode]uint8  // by entry: the last pixel of its string
	string [maxCode]uint8  // the current string, at the end
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

// code takes the next code. Blocks must be complete. Empty ones are skipped.
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

// next returns the string of the next code that has one. It is valid until the next
// call.
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
