package jpeg

import "encoding/binary"

// Outside a window coefficients are not needed. There only the bits that symbols
// take and the coefficients that they advance matter, so one lookup can skip several
// symbols.

// skipBits is the greatest number of bits that one entry of a skipper takes.
const skipBits = 18

// A skipper is a table that skips AC coefficients. The index is the next codeBits
// bits. An entry has three parts: the number of bits that symbols and values take (5
// bits), the number of coefficients that they advance (7 bits from bit 8), and
// whether the block ends there (the highest bit). It is zero if the index does not
// hold a whole symbol.
type skipper struct {
	entries [1 << codeBits]uint16
	ready   bool
}

const skipEnd = 1 << 15

func (s *skipper) build(h *huffman) {
	const mask = 1<<codeBits - 1
	for i := range s.entries {
		length, advance, end := uint(0), uint(0), uint(0)
		for end == 0 && length < codeBits {
			c := uint(h.codes[i<<length&mask])
			symbol, code := c&255, c>>8
			take, step := code+symbol&15, symbol>>4+1
			// The bits shifted in at the end are unknown, so a code must end before
			// them.
			if c == 0 || length+code > codeBits || length+take > skipBits || advance+step > 127 {
				break
			}
			if symbol&15 == 0 && symbol != 0xf0 {
				step, end = 0, skipEnd
			}
			length, advance = length+take, advance+step
		}
		s.entries[i] = uint16(length | advance<<8 | end)
	}
	s.ready = true
}

// skip reads one block of a sequential scan and keeps only the prediction. It
// reports whether the code is valid.
func (r *reader) skip(dc, ac *huffman, predicted *int32) bool {
	if !ac.skip.ready {
		ac.skip.build(ac)
	}
	if !r.difference(dc, predicted) {
		return false
	}
	stream, at, acc, n := r.bytes, r.at, r.acc, r.n
	k := uint(1) // zigzag index of the next coefficient
	for {
		acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
		at += int(63-n) >> 3
		n |= 56
		for range 3 { // 56 bits are ready, and each entry takes skipBits at most
			e := uint(ac.skip.entries[acc>>(64-codeBits)])
			next := k + e>>8&127
			if e == 0 || next > 63 {
				r.at, r.acc, r.n = at, acc, n
				if next, ok := r.skipOne(ac, k); next >= 64 {
					return ok
				} else {
					k = next
				}
				at, acc, n = r.at, r.acc, r.n
				break
			}
			acc <<= e & 31
			n -= e & 31
			if e >= skipEnd {
				r.at, r.acc, r.n = at, acc, n
				return true
			}
			k = next
		}
	}
}

// skipOne reads one symbol. It returns the zigzag index after it, which is 64 or
// more at the end of the block, and whether the code is valid.
func (r *reader) skipOne(ac *huffman, k uint) (next uint, ok bool) {
	symbol, ok := r.code(ac)
	if !ok {
		return 64, false
	}
	size := symbol & 15
	switch {
	case size == 0 && symbol != 0xf0:
		return 64, true
	case size == 0:
		return k + 16, true
	}
	r.drop(size)
	return k + symbol>>4 + 1, true
}

// difference reads a block's DC difference and adds it to predicted. It reports
// whether the code is valid.
func (r *reader) difference(dc *huffman, predicted *int32) bool {
	size, ok := r.code(dc)
	if size > 0 {
		*predicted += extend(r.acc, size)
		r.drop(size)
	}
	return ok
}
