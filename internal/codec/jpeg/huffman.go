package jpeg

import "encoding/binary"

// codeBits is the number of bits that one lookup of a Huffman code decodes.
const codeBits = 11

// A huffman is a decoding table.
//
// The index into codes is the next codeBits bits. An entry is length<<8 | symbol, or
// zero if the code is longer or invalid.
type huffman struct {
	codes [1 << codeBits]uint16
	pairs pairs
	skip  skipper

	limit  [17]uint32 // by length: the first 16-bit pattern that belongs to a longer code
	offset [17]int32  // by length: the index of a code's symbol minus the code
	symbol [256]uint8
	count  [16]uint8 // as in the file
	total  int
	dc     bool
	wrong  string // why the codes are invalid, or empty
}

// same reports whether the table was built from these counts and symbols.
func (h *huffman) same(count *[16]uint8, symbol []uint8, dc bool) bool {
	return h.dc == dc && h.count == *count && h.total == len(symbol) &&
		string(h.symbol[:len(symbol)]) == string(symbol)
}

// build makes the table from the symbols. There are count[i] codes of i+1 bits.
func (h *huffman) build(count *[16]uint8, symbol []uint8, dc bool) {
	if h.same(count, symbol, dc) {
		return
	}
	h.dc, h.count, h.total = dc, *count, len(symbol)
	copy(h.symbol[:], symbol)
	clear(h.codes[:])
	h.pairs.ready, h.skip.ready = false, false
	h.wrong = h.assign()
}

// assign gives the symbols their codes and says why they are invalid, if they are.
// As in libjpeg, no code may consist of ones only.
func (h *huffman) assign() (wrong string) {
	code, k := uint32(0), 0
	for length := 1; length <= 16; length++ {
		h.offset[length] = int32(k) - int32(code)
		for range h.count[length-1] {
			if code >= 1<<length-1 {
				return "codes exceed their lengths"
			}
			if h.dc && h.symbol[k] > 15 {
				return "a difference of more than 15 bits"
			}
			if free := codeBits - length; free >= 0 {
				same := h.codes[code<<free : (code+1)<<free]
				for i := range same {
					same[i] = uint16(length)<<8 | uint16(h.symbol[k])
				}
			}
			code++
			k++
		}
		h.limit[length] = code << (16 - length)
		code <<= 1
	}
	return ""
}

// search finds the code at the start of window, which holds the next 16 bits. Its
// length is 0 if there is none.
func (h *huffman) search(window uint32) (symbol uint8, length int) {
	if c := h.codes[window>>(16-codeBits)&(1<<codeBits-1)]; c != 0 {
		return uint8(c), int(c >> 8)
	}
	for length = codeBits + 1; length <= 16; length++ {
		if window < h.limit[length] {
			return h.symbol[uint8(h.offset[length]+int32(window>>(16-length)))], length
		}
	}
	return 0, 0
}

// extend returns the coefficient whose bits are the highest size bits of acc. Size
// is 1 to 16. Source: section F.2.2.1 of the standard.
func extend(acc uint64, size uint) int32 {
	positive := int32(int64(acc) >> 63) // all ones where the first bit is 1
	return int32(acc>>((64-size)&63)) + ^positive&(1-1<<(size&31))
}

// zigzag is the index, row by row, of the k-th coefficient in the stream. In corrupt
// streams k goes beyond 63.
var zigzag = func() (order [256]uint8) {
	known := ZigZag()
	for k := range order {
		order[k] = known[min(k, 63)]
	}
	return order
}()

// inOrder is zigzag for blocks that stay in the stream's order.
var inOrder = func() (order [256]uint8) {
	for k := range order {
		order[k] = uint8(min(k, 63))
	}
	return order
}()

// ZigZag returns the index, row by row, of the k-th coefficient of 8×8 in the stream. Source:
// section A.3.6 of the standard (ITU-T T.81).
func ZigZag() (order [64]uint8) {
	x, y, up := 0, 0, true
	for k := range order {
		order[k] = uint8(8*y + x)
		switch {
		case up && x == 7:
			y, up = y+1, false
		case up && y == 0:
			x, up = x+1, false
		case up:
			x, y = x+1, y-1
		case y == 7:
			x, up = x+1, true
		case x == 0:
			y, up = y+1, true
		default:
			x, y = x-1, y+1
		}
	}
	return order
}

// The Huffman tables of section K.3.3 of the standard. Frames of motion JPEG do not
// contain them.
var (
	standardDC = [2]struct {
		count  [16]uint8
		symbol []uint8
	}{
		{[16]uint8{0, 1, 5, 1, 1, 1, 1, 1, 1}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{[16]uint8{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	}
	standardAC = [2]struct {
		count  [16]uint8
		symbol []uint8
	}{
		{
			[16]uint8{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d},
			[]uint8{
				0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
				0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0,
				0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28,
				0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
				0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
				0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
				0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
				0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5,
				0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
				0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
				0xf9, 0xfa,
			},
		},
		{
			[16]uint8{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77},
			[]uint8{
				0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
				0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0,
				0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26,
				0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
				0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
				0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
				0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5,
				0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
				0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
				0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
				0xf9, 0xfa,
			},
		},
	}
)

// Where coefficients of a sequential scan are kept, one lookup decodes up to two
// symbols: the first with its value, and the second with a value whose bits may lie
// beyond the index. It needs no branch for that.

// pairBits is the number of bits of the index. With 9 or 11 the decoder is slower.
const pairBits = 10

// pairMost is the greatest number of bits that one entry takes. Three entries fit into
// the 56 bits after a refill.
const pairMost = 18

const (
	pairEnds = 1 << 6 // the flag of an entry that ends the block, or the difference
	pairNone = 127    // the advance of an entry without a symbol, beyond any block's end
	pairSize = 11     // the greatest size of a value
)

// The index into entries is the next pairBits bits. The parts of an entry are, from
// the lowest bit:
//
//	 0: 6 bits  how many bits its symbols and values take
//	 6: 1 bit   pairEnds
//	 8: 8 bits  the distance from the next coefficient to the first one of a pair
//	16: 6 bits  64 minus the bits that it takes, modulo 64
//	23: 1 bit   pairEnds again
//	24: 8 bits  the advance: how many coefficients it decodes; the end counts as one
//	32: 16 bits the first coefficient of a pair, or 0
//	48: 16 bits -1<<size, with the size of the last coefficient's value
//
// The last coefficient is values[1<<size+bits], where bits are the last ones taken. It
// is 0 if the size is 0. The kernel finds the other fields by their distance from the
// entries.
type pairs struct {
	limit       [16]uint16 // by length-1, as in a huffman
	offset      [16]int16
	dc          uint64 // 0 or 1
	symbol      [256]uint8
	entries     [1 << pairBits]uint64
	heads       [1 << pairBits]uint8 // the entries' lowest bytes, which the kernel needs first
	ready       bool
	progressive bool // ends of several blocks have no entries, as in progressive files
}

// build makes the entries of a valid table.
func (p *pairs) build(h *huffman) {
	if p.ready {
		return
	}
	p.ready = true
	p.addFirst(h)
	if !h.dc {
		p.addSecond(h)
	}
	p.setHeads()
}

func (p *pairs) setHeads() {
	for i := range p.heads {
		p.heads[i] = uint8(p.entries[i])
	}
}

// addFirst makes entries of one symbol.
func (p *pairs) addFirst(h *huffman) {
	p.describe(h)
	for i := 0; i < len(p.entries); {
		e, n := uint64(pairNone<<24|0xffff<<48), len(p.entries)-i // from here on codes are longer
		if c := h.codes[i<<(codeBits-pairBits)]; c>>8 != 0 && c>>8 <= pairBits {
			e, n = p.single(uint8(c), uint64(c>>8), h.dc), 1<<(pairBits-c>>8)
		}
		same := p.entries[i : i+n]
		for j := range same {
			same[j] = e
		}
		i += n
	}
}

// describe sets what is there besides the entries.
func (p *pairs) describe(h *huffman) {
	p.dc, p.symbol = 0, h.symbol
	if h.dc {
		p.dc = 1
	}
	for i := range p.limit {
		p.limit[i], p.offset[i] = uint16(h.limit[i+1]), int16(h.offset[i+1])
	}
}

// single is the entry of one symbol.
func (p *pairs) single(symbol uint8, length uint64, dc bool) uint64 {
	run, size, ends := uint64(symbol>>4), uint64(symbol&15), uint64(0)
	switch {
	case size > pairSize || length+size > pairMost || p.progressive && size == 0 && run-1 < 14:
		return pairNone<<24 | 0xffff<<48
	case dc, size == 0 && symbol != 0xf0:
		run, ends = 0, pairEnds|1<<23
	}
	length += size
	return length | ends | (64-length)<<16 | (run+1)<<24 | -(1<<size)<<48
}

// addSecond adds a second symbol wherever its code is within the index.
func (p *pairs) addSecond(h *huffman) {
	seconds := p.entries
	for i := 0; i < len(p.entries); {
		c := h.codes[i<<(codeBits-pairBits)]
		if c>>8 == 0 || c>>8 > pairBits {
			break
		}
		next := i + 1<<(pairBits-c>>8)
		size := int(c & 15)
		length := int(c>>8) + size
		if length >= pairBits || seconds[i]&pairEnds != 0 || seconds[i]>>24&0xff == pairNone {
			i = next
			continue
		}
		free := pairBits - length
		first := uint64(length) - uint64(length)<<16 + uint64(c>>4&15+1)<<24
		if size > 0 {
			first += uint64(c>>4&15) << 8
		}
		for v := range 1 << size {
			e := first + uint64(uint16(values[1<<size+v]))<<32
			part := p.entries[i : i+1<<free]
			for j := range part {
				at := j << length & (len(seconds) - 1)
				code, s := int(h.codes[at<<(codeBits-pairBits)]>>8), seconds[at]
				if uint(code-1) < uint(free) && s>>24&0xff != pairNone && length+int(s&63) <= pairMost {
					part[j] = e + s
				}
			}
			i += 1 << free
		}
	}
}

// values are coefficients by 1<<size + bits: table F.1 of the standard.
var values = func() (v [2 << pairSize]int16) {
	for size := 1; size <= pairSize; size++ {
		for bits := range 1 << size {
			v[1<<size+bits] = int16(extend(uint64(bits)<<(64-size), uint(size)))
		}
	}
	return v
}()

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
