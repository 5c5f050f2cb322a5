package tiff

import "errors"

// Codes of LZW. Source: TIFF 6.0, section 13.
const (
	lzwClear = 256
	lzwEnd   = 257
	lzwFirst = 258
	lzwMost  = 4096
)

var errLZW = errors.New("a code of LZW stands for nothing")

// An lzw is the table of a decoder: a code stands for bytes that have been
// written before.
type lzw struct {
	from   [lzwMost]int // place in the destination
	length [lzwMost]int
}

// decode fills dst.
func (t *lzw) decode(dst, src []byte) error {
	if len(src) >= 2 && src[0] == 0 && src[1]&1 != 0 {
		return t.decodeOld(dst, src)
	}
	var acc uint64
	var n uint // bits in acc, from the top
	width, next, at := uint(9), lzwFirst, 0
	last, lastLength := -1, 0 // place of the last code's bytes
	for at < len(dst) {
		for n <= 56 && len(src) > 0 {
			acc |= uint64(src[0]) << (56 - n)
			n += 8
			src = src[1:]
		}
		if n < width {
			return errShort
		}
		code := int(acc >> (64 - width))
		acc <<= width
		n -= width
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
			if next >= 1<<width-1 && width < 12 {
				width++
			}
		}
		last, lastLength = at, length
		at += length
	}
	return nil
}

// write writes what a code stands for and returns its length.
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

// decodeOld is for codes as libtiff wrote them before version 3: from the lowest
// bit on, and widened one code later.
func (t *lzw) decodeOld(dst, src []byte) error {
	var acc uint64
	var n uint
	width, next, at := uint(9), lzwFirst, 0
	last, lastLength := -1, 0
	for at < len(dst) {
		for n <= 56 && len(src) > 0 {
			acc |= uint64(src[0]) << n
			n += 8
			src = src[1:]
		}
		if n < width {
			return errShort
		}
		code := int(acc & (1<<width - 1))
		acc >>= width
		n -= width
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
			if next >= 1<<width && width < 12 {
				width++
			}
		}
		last, lastLength = at, length
		at += length
	}
	return nil
}
