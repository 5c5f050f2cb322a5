package nrrd

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/bulk"
)

// hexadecimal converts pairs of digits to bytes. White space may be anywhere.
type hexadecimal struct{ src *bulk.Source }

func (t *hexadecimal) Read(p []byte) (int, error) {
	for n := range p {
		high, err := t.digit()
		if err != nil {
			return n, err
		}
		low, err := t.digit()
		if err != nil {
			return n, bulk.Unexpected(err)
		}
		p[n] = high<<4 | low
	}
	return len(p), nil
}

func (t *hexadecimal) digit() (byte, error) {
	for {
		c, err := t.src.ReadByte()
		if err != nil {
			return 0, err
		}
		switch {
		case c >= '0' && c <= '9':
			return c - '0', nil
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			return (c | 0x20) - 'a' + 10, nil
		case c == ' ' || c >= '\t' && c <= '\r':
			continue
		}
		return 0, fmt.Errorf("%q is not a hexadecimal digit", c)
	}
}

// zeroRuns expands Teem's ZRL. A byte of 0 and a count mean that many zeros. A count of 256 or more is a byte of 0 and two
// bytes, the lower one first.
type zeroRuns struct {
	src  *bulk.Source
	left int // zeros to come
}

func (t *zeroRuns) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if t.left > 0 {
			k := min(t.left, len(p)-n)
			clear(p[n : n+k])
			n, t.left = n+k, t.left-k
			continue
		}
		c, err := t.src.ReadByte()
		if err != nil {
			return n, err
		}
		if c != 0 {
			p[n] = c
			n++
			continue
		}
		if t.left, err = t.count(); err != nil {
			return n, bulk.Unexpected(err)
		}
	}
	return len(p), nil
}

func (t *zeroRuns) count() (int, error) {
	var c [3]byte
	for i := range c {
		var err error
		if c[i], err = t.src.ReadByte(); err != nil {
			return 0, err
		}
		if c[0] != 0 {
			return int(c[0]), nil
		}
	}
	return int(c[1]) | int(c[2])<<8, nil
}
