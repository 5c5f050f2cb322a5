package jpeg

// lookupBits is the number of bits that one look at a Huffman table decides:
// 11 hold nine of ten symbols together with the bits of their values.
const lookupBits = 11

// A huffman is a decoding table.
//
// An entry of lookup answers for all bit patterns with the same first
// lookupBits bits. Where code and value fit into them, the entry holds
// value<<16 | advance<<8 | length: the coefficient, the distance to it (run+1)
// and the bits of both together. Otherwise its upper half is zero, and it is
// symbol<<8 | length of the code alone, or zero for a code longer than
// lookupBits.
type huffman struct {
	lookup [1 << lookupBits]int32
	skip   skipper

	limit  [17]uint32 // by length: the first 16-bit pattern that belongs to a longer code
	offset [17]int32  // by length: index of a code's symbol, less the code
	symbol [256]uint8
	count  [16]uint8 // as in the file
	total  int
	dc     bool
	wrong  string // what is wrong with the codes, if anything is
}

// same reports whether the table was built from these counts and symbols.
func (h *huffman) same(count *[16]uint8, symbol []uint8, dc bool) bool {
	return h.dc == dc && h.count == *count && h.total == len(symbol) &&
		string(h.symbol[:len(symbol)]) == string(symbol)
}

// build makes the table for count[i] codes of i+1 bits.
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

// assign gives the symbols their codes and tells what is wrong with them, by
// libjpeg's rules: no code is all ones.
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

// long finds the code of more than lookupBits bits that window, the next 16
// bits, starts with; its length is 0 if there is none.
func (h *huffman) long(window uint32) (symbol uint8, length int) {
	return h.search(window, lookupBits+1)
}

// short finds the code that window starts with, of whatever length.
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

// extend gives the coefficient whose size bits are the highest of acc: section
// F.2.2.1 of the standard. The size is 1 to 16.
func extend(acc uint64, size uint) int32 {
	positive := int32(int64(acc) >> 63) // all ones where the first bit is 1
	return int32(acc>>((64-size)&63)) + ^positive&(1-1<<(size&31))
}

// zigzag is the place, row by row, of the coefficient that comes k-th in the
// stream. Corrupt streams reach beyond 63.
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
