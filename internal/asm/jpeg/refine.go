package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of a refinement in internal/jpeg.
const (
	refineZeros = 8 * iota
	refineLeft
	refineBits
	refineFresh
	refineNegative
	refineSize // five words
)

// The parts of an entry of a table for refinement.
const (
	refineLength = 0
	refineZero   = 2
	refineNew    = 4
	refineMinus  = 5
	refineRun    = 6

	refineBitsOfIndex = 10
	refineRare        = 64
)

// Where the numbers of the scan are.
const (
	refineAt = 8 * iota
	refineMore
	refineCount
)

// A refiner holds the registers of the decoder of refinements: all but the stack's.
type refiner struct {
	acc, n      Register // the next bits, from the lowest, and how many of them are counted
	in          Register // the address of the byte after them
	table       Register // of the next symbol
	block       Register // its refinement
	zeros, left Register // what is left of the block's places
	run         Register // how many blocks after this one have no symbol
	index       Register
	length      Register
	place       Register // of the new coefficient: first as a place among zeros only
	fresh       Register // -1 or 0: whether there is one
	negative    Register // -1 or 0
	a           Register // temporary

	inEnd, blockEnd, first, symbols, ended, count Mem
}

// refinePlaces decodes one symbol a round. It has a branch only for what is rare.
func refinePlaces() {
	reversed := GLOBL("refine_reversed", RODATA|NOPTR)
	for i := range 256 {
		v := 0
		for bit := range 8 {
			v |= i >> bit & 1 << (7 - bit)
		}
		DATA(i, U8(uint8(v)))
	}
	TEXT("refinePlaces", NOSPLIT, "func(state *uint64, stream *byte, end int, symbols, ended *uint64, blocks *uint64, n int) bool")
	Doc("refinePlaces decodes the bits and the places of the new coefficients of n blocks, from the",
		"stream's first end bytes. It reports false if a code is invalid or the stream ends too",
		"early. It needs BMI2.")
	r := &refiner{
		acc: RBX, n: R13, in: R8, table: R9, block: RDI, zeros: R10, left: R11, run: R12,
		index: RAX, length: RCX, place: RDX, fresh: RSI, negative: R14, a: R15,
		inEnd: AllocLocal(8), blockEnd: AllocLocal(8), first: AllocLocal(8), symbols: AllocLocal(8), ended: AllocLocal(8), count: AllocLocal(8),
	}
	r.load()
	Label("round")
	CMPQ(r.in, r.inEnd)
	JHI(LabelRef("refused"))
	part := func(disp int) Mem { return Mem{Base: r.table, Index: r.index, Scale: 8, Disp: disp} }
	MOVL(low(r.acc), low(r.index))
	ANDL(U32(1<<refineBitsOfIndex-1), low(r.index))
	MOVBLZX(part(refineLength), low(r.length))
	MOVWLZX(part(refineZero), low(r.place))
	TESTL(U32(refineRare), low(r.length))
	JNE(LabelRef("rare"))
	MOVWLZX(part(refineRun), low(r.a))
	ADDQ(r.a, r.run)
	MOVBQSX(part(refineNew), r.fresh)
	MOVBQSX(part(refineMinus), r.negative)

	Label("symbol")
	SHRXQ(r.length, r.acc, r.acc)
	SUBQ(r.length, r.n)
	r.refill()
	PDEPQ(r.zeros, r.place, r.place)
	before, old := r.a, r.index
	BLSMSKQ(r.place, before) // all places if the new one is beyond the selection, or the block ends
	MOVQ(r.left, old)
	ANDQ(before, old)
	ANDNQ(r.zeros, before, r.zeros)
	ANDNQ(r.left, before, r.left)
	PDEPQ(old, r.acc, r.a)
	ORQ(r.a, Mem{Base: r.block, Disp: refineBits})
	POPCNTQ(old, old)
	SHRXQ(old, r.acc, r.acc)
	SUBQ(old, r.n)
	CMPQ(old, U8(40))
	JHI(LabelRef("many"))
	Label("placed")
	SUBQ(r.fresh, r.count)
	ANDQ(r.place, r.fresh)
	ORQ(r.fresh, Mem{Base: r.block, Disp: refineFresh})
	ANDQ(r.place, r.negative)
	ORQ(r.negative, Mem{Base: r.block, Disp: refineNegative})

	// Only after a block's last symbol run is not zero, so within a block the table stays.
	MOVQ(r.symbols, r.table)
	SUBQ(U8(1), r.run)
	CMOVQCC(r.ended, r.table)
	ADCQ(U8(0), r.run)
	LEAQ(Mem{Base: r.block, Disp: refineSize}, r.index)
	MOVQ(r.zeros, r.a)
	ORQ(r.left, r.a)
	CMOVQEQ(Mem{Base: r.block, Disp: refineSize + refineZeros}, r.zeros)
	CMOVQEQ(Mem{Base: r.block, Disp: refineSize + refineLeft}, r.left)
	CMOVQEQ(r.index, r.block)
	CMPQ(r.block, r.blockEnd)
	JCS(LabelRef("round"))

	Load(Param("state"), r.a)
	SUBQ(r.first, r.in)
	SHLQ(U8(3), r.in)
	SUBQ(r.n, r.in)
	MOVQ(r.in, Mem{Base: r.a, Disp: refineAt})
	MOVQ(r.count, r.index)
	MOVQ(r.index, Mem{Base: r.a, Disp: refineCount})
	XORL(low(r.index), low(r.index))
	CMPQ(r.table, r.ended)
	SETEQ(AL)
	ADDQ(r.index, r.run)
	MOVQ(r.run, Mem{Base: r.a, Disp: refineMore})
	MOVB(U8(1), AL)
	Store(AL, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("refused")
	XORL(EAX, EAX)
	Store(AL, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("many")
	r.reload()
	JMP(LabelRef("placed"))
	r.rare(reversed)
}

// load reads the arguments.
func (r *refiner) load() {
	Load(Param("stream"), r.in)
	MOVQ(r.in, r.first)
	Load(Param("end"), r.a)
	LEAQ(Mem{Base: r.in, Index: r.a, Scale: 1, Disp: 8}, r.a) // up to 63 bits are ready
	MOVQ(r.a, r.inEnd)
	Load(Param("blocks"), r.block)
	Load(Param("n"), r.a)
	LEAQ(Mem{Base: r.a, Index: r.a, Scale: 4}, r.a)
	LEAQ(Mem{Base: r.block, Index: r.a, Scale: 8}, r.a)
	MOVQ(r.a, r.blockEnd)
	Load(Param("ended"), r.a)
	MOVQ(r.a, r.ended)
	Load(Param("symbols"), r.table)
	MOVQ(r.table, r.symbols)
	XORL(low(r.a), low(r.a))
	MOVQ(r.a, r.count)
	Load(Param("state"), r.length)
	XORL(low(r.n), low(r.n))
	SUBQ(Mem{Base: r.length, Disp: refineAt}, r.n)
	MOVQ(Mem{Base: r.length, Disp: refineMore}, r.run)
	r.reload()
	MOVQ(Mem{Base: r.block, Disp: refineZeros}, r.zeros)
	MOVQ(Mem{Base: r.block, Disp: refineLeft}, r.left)
	SUBQ(U8(1), r.run)
	CMOVQCC(r.ended, r.table)
	ADCQ(U8(0), r.run)
}

// refill makes 56 bits ready.
func (r *refiner) refill() {
	MOVQ(Mem{Base: r.in}, r.a)
	SHLXQ(r.n, r.a, r.a)
	ORQ(r.a, r.acc)
	MOVL(low(r.n), low(r.a))
	SHRL(U8(3), low(r.a))
	SUBQ(r.a, r.in)
	ADDQ(U8(7), r.in)
	ORL(U8(56), low(r.n))
}

// reload takes the bits anew. n may be negative.
func (r *refiner) reload() {
	NEGQ(r.n)
	MOVQ(r.n, r.a)
	SARQ(U8(3), r.a)
	ADDQ(r.a, r.in)
	ANDL(U8(7), low(r.n))
	MOVQ(Mem{Base: r.in}, r.acc)
	SHRXQ(r.n, r.acc, r.acc)
	ADDQ(U8(7), r.in)
	NEGQ(r.n)
	ADDQ(U8(56), r.n)
}

// reverse puts the lowest 16 bits of src into dst, the first one highest.
func (r *refiner) reverse(table, src, dst, t Register) {
	MOVBLZX(src.(GPPhysical).As8(), low(dst))
	MOVBLZX(Mem{Base: table, Index: dst, Scale: 1}, low(dst))
	SHLL(U8(8), low(dst))
	MOVL(low(src), low(t))
	SHRL(U8(8), low(t))
	MOVBLZX(t.(GPPhysical).As8(), low(t))
	MOVBLZX(Mem{Base: table, Index: t, Scale: 1}, low(t))
	ORL(low(t), low(dst))
}

// rare decodes a symbol by its code's limits.
func (r *refiner) rare(reversed Mem) {
	Label("rare")
	r.reload()
	t, code, symbol := r.negative, r.index, r.place
	LEAQ(reversed, t)
	r.reverse(t, r.acc, code, r.a)

	// The code's length is one more than the number of limits that it reaches.
	VMOVD(low(code), X0)
	VPBROADCASTW(X0, Y0)
	VPMAXUW(Mem{Base: r.table, Disp: tableLimit}, Y0, Y1)
	VPCMPEQW(Y0, Y1, Y1)
	VPMOVMSKB(Y1, low(r.length))
	POPCNTL(low(r.length), low(r.length))
	SHRL(U8(1), low(r.length))
	CMPL(low(r.length), U32(16))
	JCC(LabelRef("refused"))
	MOVWLSX(Mem{Base: r.table, Index: r.length, Scale: 2, Disp: tableOffset}, low(symbol))
	MOVL(U32(15), low(r.a))
	SUBL(low(r.length), low(r.a))
	SHRXL(low(r.a), low(code), low(code))
	ADDL(low(code), low(symbol))
	MOVBLZX(symbol.(GPPhysical).As8(), low(symbol))
	MOVBLZX(Mem{Base: r.table, Index: symbol, Scale: 1, Disp: tableSymbol}, low(symbol))
	INCL(low(r.length))

	SHRXQ(r.length, r.acc, r.index) // what follows the code
	MOVL(low(symbol), low(r.a))
	ANDL(U8(15), low(r.a))
	CMPL(low(r.a), U8(1))
	JHI(LabelRef("refused"))
	JNE(LabelRef("none"))
	SHRL(U8(4), low(symbol))
	MOVL(U32(1), low(r.a))
	SHLXL(low(symbol), low(r.a), low(r.place))
	ANDL(U8(1), low(r.index))
	LEAQ(Mem{Base: r.index, Disp: -1}, r.negative)
	MOVQ(I32(-1), r.fresh)
	INCL(low(r.length))
	JMP(LabelRef("symbol"))

	Label("none")
	XORL(low(r.fresh), low(r.fresh))
	SHRL(U8(4), low(symbol))
	CMPL(low(symbol), U8(15))
	JEQ(LabelRef("zeros"))
	ADDL(low(symbol), low(r.length))
	more := r.fresh
	r.reverse(t, r.index, more, r.a)
	MOVL(U32(16), low(r.a))
	SUBL(low(symbol), low(r.a))
	SHRXL(low(r.a), low(more), low(more))
	ADDQ(more, r.run)
	MOVL(U32(1), low(r.a))
	SHLXL(low(symbol), low(r.a), low(r.a))
	LEAQ(Mem{Base: r.run, Index: r.a, Scale: 1, Disp: -1}, r.run)
	XORL(low(r.place), low(r.place))
	XORL(low(r.fresh), low(r.fresh))
	XORL(low(r.negative), low(r.negative))
	JMP(LabelRef("symbol"))

	Label("zeros")
	MOVL(U32(1<<15), low(r.place))
	XORL(low(r.negative), low(r.negative))
	JMP(LabelRef("symbol"))
}

// refineBlocks adds what refinePlaces has decoded.
func refineBlocks() {
	words := GLOBL("refine_words", RODATA|NOPTR) // by quarter of a block: its mask's bytes
	for q := range 4 {
		for i := range 32 {
			DATA(32*q+i, U8(uint8(2*q+i%2)))
		}
	}
	lanes := GLOBL("refine_lanes", RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(1<<i))
	}
	TEXT("refineBlocks", NOSPLIT, "func(blocks *int16, refinements *uint64, n, bit int)")
	Doc("refineBlocks adds the bit to the coefficients of n blocks in zigzag order.")
	block, of, n := Load(Param("blocks"), GP64()), Load(Param("refinements"), GP64()), Load(Param("n"), GP64())
	bit, lane, one := YMM(), YMM(), YMM()
	m := Load(Param("bit"), GP64())
	VMOVQ(m, bit.AsX())
	VPBROADCASTW(bit.AsX(), bit)
	VMOVDQU(lanes, lane)
	VPCMPEQW(one, one, one)
	VPSRLW(U8(15), one, one)
	Label("block")
	any, negative := YMM(), YMM()
	MOVQ(Mem{Base: of, Disp: refineBits}, m)
	ORQ(Mem{Base: of, Disp: refineFresh}, m)
	JEQ(LabelRef("next"))
	VMOVQ(m, any.AsX())
	VPBROADCASTQ(any.AsX(), any)
	VPBROADCASTQ(Mem{Base: of, Disp: refineNegative}, negative)
	for q := range 4 {
		v, delta, sign := YMM(), YMM(), YMM()
		at := Mem{Base: block, Disp: 32 * q}
		VMOVDQU(at, v)
		VPSHUFB(words.Offset(32*q), any, delta)
		VPAND(lane, delta, delta)
		VPCMPEQW(lane, delta, delta)
		VPAND(bit, delta, delta)
		VPSHUFB(words.Offset(32*q), negative, sign)
		VPAND(lane, sign, sign)
		VPCMPEQW(lane, sign, sign)
		VPOR(v, sign, sign)
		VPOR(one, sign, sign) // the sign of a zero is that of its new value
		VPSIGNW(sign, delta, delta)
		VPADDW(delta, v, v)
		VMOVDQU(v, at)
	}
	Label("next")
	ADDQ(U8(refineSize), of)
	ADDQ(U32(128), block)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// reverseBits is for streams whose bits are taken from the lowest.
func reverseBits() {
	nibbles := GLOBL("reverse_nibbles", RODATA|NOPTR)
	for i := range 32 {
		v := i % 16
		v = v>>3&1 | v>>1&2 | v<<1&4 | v<<3&8
		DATA(i, U8(uint8(v)))
	}
	TEXT("reverseBits", NOSPLIT, "func(dst, src *byte, n int)")
	Doc("reverseBits reverses the bits of each of 32·n bytes.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	table, mask, a, b := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(nibbles, table)
	VPCMPEQB(mask, mask, mask)
	VPSRLW(U8(12), mask, mask)
	VPACKUSWB(mask, mask, mask)
	Label("bytes")
	VMOVDQU(Mem{Base: src}, a)
	VPSRLW(U8(4), a, b)
	VPAND(mask, a, a)
	VPAND(mask, b, b)
	VPSHUFB(a, table, a)
	VPSHUFB(b, table, b)
	VPSLLW(U8(4), a, a)
	VPOR(a, b, a)
	VMOVDQU(a, Mem{Base: dst})
	ADDQ(U8(32), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	VZEROUPPER()
	RET()
}
