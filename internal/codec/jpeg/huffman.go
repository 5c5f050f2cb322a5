package jpeg

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
