package jpeg

import "encoding/binary"

// Where coefficients are not wanted, symbols count only by the bits that they
// take and the places that they advance, so one look can answer for several.

// skipBits is the most bits that one entry of a skipper takes.
const skipBits = 18

// A skipper is a Huffman table of AC coefficients for skipping. An entry is the
// bits that symbols and values take, 5 bits, the places that they advance, 7
// bits from bit 8, and in the highest bit whether the block ends there. It is
// zero where not even one symbol is known.
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
			code := uint(e) & 63 // with the value, where that fits too
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
			// Of a code that is not known as a whole, the bits after it are made up.
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

// skip reads one block of a sequential scan and keeps nothing but the
// prediction. It reports whether the code is sound.
func (r *reader) skip(dc, ac *huffman, predicted *int32) bool {
	if !ac.skip.ready {
		ac.skip.build(ac)
	}
	if !r.difference(dc, predicted) {
		return false
	}
	stream, at, acc, n := r.bytes, r.at, r.acc, r.n
	k := uint(1) // place of the next coefficient
	for {
		acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
		at += int(63-n) >> 3
		n |= 56
		for range 3 { // of skipBits at most
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

// skipOne reads one symbol. It returns the place after it, 64 or more where
// the block ends, and whether the code is sound.
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

// difference reads the first coefficient of a block and adds it to predicted.
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
