package jpeg

import "encoding/binary"

// Outside a window coefficients are not needed. There only the bits that symbols
// take and the coefficients that they advance matter, so one lookup can skip several
// symbols.

// skipBits is the greatest number of bits that one entry of a skipper takes.
const skipBits = 18

// A skipper is a table that skips AC coefficients. The index is the next lookupBits
// bits. An entry has three parts: the number of bits that symbols and values take (5
// bits), the number of coefficients that they advance (7 bits from bit 8), and
// whether the block ends there (the highest bit). It is zero if the index does not
// hold a whole symbol.
type skipper struct {
	entries [1 << lookupBits]uint16
	ready   bool
}

const skipEnd = 1 << 15

func (s *skipper) build(h *huffman) {
	const mask = 1<<lookupBits - 1
	for i := range s.entries {
		length, advance, end := uint(0), uint(0), uint(0)
		for end == 0 && length < lookupBits {
			e := h.lookup[i<<length&mask]
			code := uint(e) & 63 // with the value, if that fits too
			step := uint(e>>8) & 31
			take := code
			if uint32(e)>>16 == 0 {
				symbol := uint(e>>8) & 255
				step = symbol>>4 + 1
				take = code + symbol&15
				if symbol&15 == 0 && symbol != 0xf0 {
					step, end = 0, skipEnd
				}
			}
			// The bits shifted in at the end are unknown, so a code must end before
			// them.
			if e == 0 || length+code > lookupBits || length+take > skipBits || advance+step > 127 {
				end = 0
				break
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
			e := uint(ac.skip.entries[acc>>(64-lookupBits)])
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
	r.refill()
	symbol, length := ac.short(uint32(r.acc >> 48))
	if length == 0 {
		return 64, false
	}
	r.drop(uint(length))
	size := uint(symbol) & 15
	switch {
	case size == 0 && symbol != 0xf0:
		return 64, true
	case size == 0:
		return k + 16, true
	}
	r.drop(size)
	return k + uint(symbol)>>4 + 1, true
}

// difference reads a block's DC difference and adds it to predicted. It reports
// whether the code is valid.
func (r *reader) difference(dc *huffman, predicted *int32) bool {
	r.refill()
	e := dc.lookup[r.acc>>(64-lookupBits)]
	if uint32(e)>>16 != 0 {
		r.drop(uint(e) & 63)
		*predicted += e >> 16
		return true
	}
	size, length := uint(e>>8)&15, uint(e)&63
	if e == 0 {
		symbol, l := dc.long(uint32(r.acc >> 48))
		if l == 0 {
			return false
		}
		size, length = uint(symbol), uint(l)
	}
	r.drop(length)
	if size > 0 {
		*predicted += extend(r.acc, size)
		r.drop(size)
	}
	return true
}
