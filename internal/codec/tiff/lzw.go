package tiff

import "errors"

// Codes of LZW. Source: TIFF 6.0, section 13.
const (
	lzwClear = 256
	lzwEnd   = 257
	lzwFirst = 258
	lzwMost  = 4096
)

var errLZW = errors.New("an LZW code is not in the table")

// An lzw is the table of a decoder. A code means bytes that have been written before.
type lzw struct {
	from   [lzwMost]int // index in the destination
	length [lzwMost]int
}

// decode fills dst. Files of libtiff before version 3 have codes with the lowest bit
// first, which become wider one code later.
func (t *lzw) decode(dst, src []byte) error {
	old := len(src) >= 2 && src[0] == 0 && src[1]&1 != 0
	early := 1
	if old {
		early = 0
	}
	var acc uint64
	var n uint // bits in acc, from the top, or from the lowest in old files
	width, next, at := uint(9), lzwFirst, 0
	last, lastLength := -1, 0 // where the last code's bytes are in dst
	for at < len(dst) {
		for ; n <= 56 && len(src) > 0; src = src[1:] {
			if old {
				acc |= uint64(src[0]) << n
			} else {
				acc |= uint64(src[0]) << (56 - n)
			}
			n += 8
		}
		if n < width {
			return errShort
		}
		n -= width
		var code int
		if old {
			code = int(acc & (1<<width - 1))
			acc >>= width
		} else {
			code = int(acc >> (64 - width))
			acc <<= width
		}
		if code == lzwClear {
			width, next, last = 9, lzwFirst, -1
			continue
		}
		if code == lzwEnd {
			return errShort
		}
		length, err := t.write(dst, at, code, next, last, lastLength)
		if err != nil {
			return err
		}
		if last >= 0 && next < lzwMost {
			t.from[next], t.length[next] = last, lastLength+1
			next++
			if next >= 1<<width-early && width < 12 {
				width++
			}
		}
		last, lastLength = at, length
		at += length
	}
	return nil
}

// write writes the bytes of a code and returns their number.
func (t *lzw) write(dst []byte, at, code, next, last, lastLength int) (int, error) {
	switch {
	case code < lzwClear:
		dst[at] = byte(code)
		return 1, nil
	case code < next && code >= lzwFirst && last >= 0:
		length := t.length[code]
		copy(dst[at:], dst[t.from[code]:][:length])
		return length, nil
	case code == next && last >= 0:
		n := copy(dst[at:], dst[last:at])
		if at+n < len(dst) {
			dst[at+n] = dst[last]
		}
		return lastLength + 1, nil
	}
	return 0, errLZW
}
