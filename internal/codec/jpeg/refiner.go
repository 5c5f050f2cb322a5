package jpeg

import "math/bits"

// A refinement is what a refinement scan says about a block. Bit k of a mask is the
// coefficient at place k of the stream. The masks without a name are for the kernels only.
type refinement struct {
	zeros uint64 // of the selection
	left  uint64 // the other coefficients of the selection
	_     uint64 // those whose next bit is 1
	fresh uint64 // new coefficients
	_     uint64 // those of them that are below zero
}

// refineMost is how many blocks a refiner decodes at once. It is enough for a row of
// most photos.
const refineMost = 64

// A refiner decodes refinements of AC coefficients by a kernel. It takes the bits of the
// stream from the lowest, so that the next ones can be deposited at the places of a mask.
//
// The index into the table's entries is the next pairBits bits. The parts of an entry
// are, from the lowest bit:
//
//	 0: 6 bits  how many bits the symbol takes, with its sign
//	 6: 1 bit   the code is longer or invalid, or the symbol is 16 zeros or ends several blocks
//	16: 16 bits 1<<zeros: which of the zeros is the new coefficient; 0 at a block's end
//	32: 8 bits  -1 if it is negative, else 0
type refiner struct {
	table    pairs
	blocks   [refineMost + 1]refinement
	reversed []byte // refineMargin bytes, and the stream with each byte's lowest bit first
	state    [3]uint64
}

const (
	refineRare   = 1 << 6
	refineMargin = 8 // of which the kernel may read
)

// open prepares a refinement scan of AC coefficients.
func (t *refiner) open(s *scan, st *stream) {
	t.build(s.ac[0])
	t.reversed = grow(t.reversed, refineMargin+len(st.bytes))
	reverseBits(&t.reversed[refineMargin], &st.bytes[0], len(st.bytes)/32) // the slack is longer
}

// build makes the entries of a valid table.
func (t *refiner) build(h *huffman) {
	p := &t.table
	p.describe(h)
	for i := range p.entries {
		p.entries[i] = refineRare
	}
	code, k := 0, 0
	for length := 1; length <= pairBits; length++ {
		for range h.count[length-1] {
			t.add(int(bits.Reverse16(uint16(code))>>(16-length)), length, h.symbol[k])
			code++
			k++
		}
		code <<= 1
	}
}

// add makes the entries of a symbol. Code has the first bit lowest.
func (t *refiner) add(code, length int, symbol uint8) {
	run, size := int(symbol>>4), symbol&15
	fill := func(bits, n int, e uint64) {
		for i := code | bits<<length; i < len(t.table.entries); i += 1 << (length + n) {
			t.table.entries[i] = e | uint64(length+n)
		}
	}
	switch {
	case symbol == 0:
		fill(0, 0, 0)
	case size == 1 && length < pairBits:
		fill(0, 1, 1<<(16+run)|0xff<<32)
		fill(1, 1, 1<<(16+run))
	}
}

// decode reads the scan's part of blocks in zigzag order. If it reports false, nothing has
// changed.
func (t *refiner) decode(s *scan, blocks []block, nonzero []uint64) bool {
	selection := s.selection()
	for j, set := range nonzero {
		t.blocks[j] = refinement{zeros: selection &^ set, left: selection & set}
	}
	r := &s.reader
	t.state = [3]uint64{uint64(r.at*8 - int(r.n)), uint64(s.run)}
	if !refinePlaces(&t.state[0], &t.reversed[refineMargin], r.end, &t.table.entries[0], &t.blocks[0].zeros, len(blocks)) {
		return false
	}
	fresh := 0
	for j := range blocks {
		fresh += bits.OnesCount64(t.blocks[j].fresh)
	}
	at := int(t.state[0])
	if fresh != int(t.state[2]) || at > 8*r.end { // a new coefficient is beyond the selection
		return false
	}
	for j := range blocks {
		nonzero[j] |= t.blocks[j].fresh
	}
	refineKernel(&blocks[0], &t.blocks[0].zeros, len(blocks), 1<<s.low)
	s.run = int(t.state[1])
	r.at, r.acc, r.n = at>>3, 0, 0
	r.refill()
	r.drop(uint(at & 7))
	return true
}
