package jpeg

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
