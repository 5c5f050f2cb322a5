package jpeg

// lookupBits is the number of bits that one lookup in a Huffman table decodes. In
// nine of ten cases 11 bits hold a symbol and the bits of its value.
const lookupBits = 11

// A huffman is a decoding table.
//
// The index into lookup is the next lookupBits bits. If a code and its value fit
// into them, the entry is value<<16 | advance<<8 | length: the coefficient, the
// distance to it (run+1), and the number of bits of code and value. Otherwise the
// entry's upper half is zero. Then it is symbol<<8 | length, with the length of the
// code alone, or zero if the code is longer than lookupBits.
type huffman struct {
	lookup [1 << lookupBits]int32
	skip   skipper

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
	clear(h.lookup[:])
	h.skip.ready = false
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
			if length <= lookupBits {
				h.fill(code, length, h.symbol[k])
			}
			code++
			k++
		}
		h.limit[length] = code << (16 - length)
		code <<= 1
	}
	return ""
}

// fill writes the entries of one code.
func (h *huffman) fill(code uint32, length int, symbol uint8) {
	run, size := int32(symbol>>4), int(symbol&15)
	free := lookupBits - length
	first := code << free
	plain := int32(symbol)<<8 | int32(length)
	entries := h.lookup[first : first+1<<free]
	if size == 0 || size > free {
		for i := range entries {
			entries[i] = plain
		}
		return
	}
	entry := (run+1)<<8 | int32(length+size)
	step := 1 << (free - size)
	for v := range int32(1) << size {
		value := v
		if v < 1<<(size-1) {
			value += 1 - 1<<size
		}
		for i := range step {
			entries[int(v)*step+i] = value<<16 | entry
		}
	}
}

// long finds the code of more than lookupBits bits at the start of window, which
// holds the next 16 bits. Its length is 0 if there is none.
func (h *huffman) long(window uint32) (symbol uint8, length int) {
	return h.search(window, lookupBits+1)
}

// short is long for codes of any length.
func (h *huffman) short(window uint32) (symbol uint8, length int) {
	return h.search(window, 1)
}

func (h *huffman) search(window uint32, from int) (symbol uint8, length int) {
	for length = from; length <= 16; length++ {
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
var zigzag = func() (order [128]uint8) {
	x, y, up := 0, 0, true
	for k := range order {
		if k > 63 {
			order[k] = 63
			continue
		}
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
}()
