package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of a refinement in internal/codec/jpeg.
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
	refineMinus  = 4

	refineRare = 1 << 6
)

// refineBefore is how many bits the reader keeps that have been taken. With three of them
// the index of an entry is its offset in bytes: an address with a scaled index takes a
// cycle more.
const refineBefore = 3

// Where the numbers of the scan are.
const (
	refineAt = 8 * iota
	refineRun
	refineCount
)

// A refiner holds the registers of the decoder of refinements: all but the stack's.
type refiner struct {
	acc, n      Register // the bits from refineBefore before the next, lowest first, and how many of them are counted
	in          Register // the address of the byte after them
	table       Register
	block       Register // its refinement
	zeros, left Register // what is left of the block's places
	count       Register // of new coefficients
	index       Register
	length      Register
	place       Register // of the new coefficient: first as a place among zeros only
	negative    Register // -1 or 0
	a, b        Register // temporary

	inEnd, blockEnd, first, run Mem
}

// refinePlaces decodes one symbol a round. It has a branch only for what is rare: long codes,
// 16 zeros, the end of several blocks, and many old coefficients before a new one.
func refinePlaces() {
	reversed := GLOBL("refine_reversed", RODATA|NOPTR)
	for i := range 256 {
		v := 0
		for bit := range 8 {
			v |= i >> bit & 1 << (7 - bit)
		}
		DATA(i, U8(uint8(v)))
	}
	TEXT("refinePlaces", NOSPLIT, "func(state *uint64, stream *byte, end int, table *uint64, blocks *uint64, n int) bool")
	Doc("refinePlaces decodes the bits and the places of the new coefficients of n blocks, from the",
		"stream's first end bytes. It reports false if a code is invalid or the stream ends too",
		"early. It needs BMI2, and may read a byte before the stream.")
	r := &refiner{
		acc: RBX, n: R13, in: R8, table: R9, block: RDI, zeros: R10, left: R11, count: R12,
		index: RAX, length: RCX, place: RDX, negative: R14, a: R15, b: RSI,
		inEnd: AllocLocal(8), blockEnd: AllocLocal(8), first: AllocLocal(8), run: AllocLocal(8),
	}
	r.load()
	Label("round")
	CMPQ(r.in, r.inEnd)
	JHI(LabelRef("refused"))
	part := func(disp int) Mem { return Mem{Base: r.table, Index: r.index, Scale: 1, Disp: disp} }
	MOVL(low(r.acc), low(r.index))
	ANDL(U32((1<<pairBits-1)<<refineBefore), low(r.index))
	MOVBLZX(part(refineLength), low(r.length))
	MOVWLZX(part(refineZero), low(r.place))
	TESTL(U32(refineRare), low(r.length))
	JNE(LabelRef("rare"))
	MOVBQSX(part(refineMinus), r.negative)
	Label("symbol")
	CMPL(low(r.place), U8(1))
	SBBQ(I8(-1), r.count)
	r.pass("many", "placed")
	ORQ(r.place, Mem{Base: r.block, Disp: refineFresh})
	ANDQ(r.place, r.negative)
	ORQ(r.negative, Mem{Base: r.block, Disp: refineNegative})
	r.next()

	Label("done")
	Load(Param("state"), r.a)
	SUBQ(r.first, r.in)
	SHLQ(U8(3), r.in)
	SUBQ(r.n, r.in)
	ADDQ(U8(refineBefore), r.in)
	MOVQ(r.in, Mem{Base: r.a, Disp: refineAt})
	MOVQ(r.count, Mem{Base: r.a, Disp: refineCount})
	MOVQ(r.run, r.b)
	MOVQ(r.b, Mem{Base: r.a, Disp: refineRun})
	answer()

	r.many("many", "placed")
	r.rare(reversed)
	r.ended()
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
	Load(Param("table"), r.table)
	XORL(low(r.count), low(r.count))
	Load(Param("state"), r.length)
	MOVL(U32(refineBefore), low(r.n))
	SUBQ(Mem{Base: r.length, Disp: refineAt}, r.n)
	r.reload()
	MOVQ(Mem{Base: r.block, Disp: refineZeros}, r.zeros)
	MOVQ(Mem{Base: r.block, Disp: refineLeft}, r.left)
	MOVQ(Mem{Base: r.length, Disp: refineRun}, r.a)
	MOVQ(r.a, r.run)
	TESTQ(r.a, r.a)
	JNE(LabelRef("ended"))
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

// drop takes the symbol's bits.
func (r *refiner) drop() {
	SHRXQ(r.length, r.acc, r.acc)
	SUBQ(r.length, r.n)
}

// pass takes the symbol, and the bits of the old coefficients up to the place among zeros.
// Without such a place these are all, and the block ends. Many of them are taken at the
// label many, which goes on here.
func (r *refiner) pass(many, placed string) {
	r.drop()
	r.refill()
	PDEPQ(r.zeros, r.place, r.place)
	BLSMSKQ(r.place, r.b) // the places up to it, or all
	MOVQ(r.left, r.index)
	ANDQ(r.b, r.index)
	ANDNQ(r.zeros, r.b, r.zeros)
	ANDNQ(r.left, r.b, r.left)
	r.correct(many, placed)
}

// correct takes the bits of the old coefficients in index.
func (r *refiner) correct(many, placed string) {
	RORXQ(U8(refineBefore), r.acc, r.a)
	PDEPQ(r.index, r.a, r.a)
	ORQ(r.a, Mem{Base: r.block, Disp: refineBits})
	POPCNTQ(r.index, r.index)
	SHRXQ(r.index, r.acc, r.acc)
	SUBQ(r.index, r.n)
	CMPQ(r.index, U8(40))
	JHI(LabelRef(many))
	Label(placed)
}

// many makes bits ready after many have been taken. More than are there at once are left to
// portable code.
func (r *refiner) many(many, placed string) {
	Label(many)
	CMPQ(r.index, U8(64-refineBefore))
	JHI(LabelRef("refused"))
	r.reload()
	JMP(LabelRef(placed))
}

// next goes to the next block if no place is left.
func (r *refiner) next() {
	LEAQ(Mem{Base: r.block, Disp: refineSize}, r.index)
	MOVQ(r.zeros, r.a)
	ORQ(r.left, r.a)
	CMOVQEQ(Mem{Base: r.block, Disp: refineSize + refineZeros}, r.zeros)
	CMOVQEQ(Mem{Base: r.block, Disp: refineSize + refineLeft}, r.left)
	CMOVQEQ(r.index, r.block)
	CMPQ(r.block, r.blockEnd)
	JCS(LabelRef("round"))
}

// ended takes the bits of blocks that have no more symbols.
func (r *refiner) ended() {
	Label("ended")
	CMPQ(r.in, r.inEnd)
	JHI(LabelRef("refused"))
	r.refill()
	MOVQ(r.left, r.index)
	r.correct("endedMany", "endedPlaced")
	ADDQ(U8(refineSize), r.block)
	MOVQ(Mem{Base: r.block, Disp: refineZeros}, r.zeros)
	MOVQ(Mem{Base: r.block, Disp: refineLeft}, r.left)
	DECQ(r.run)
	CMPQ(r.block, r.blockEnd)
	JCC(LabelRef("done"))
	CMPQ(r.run, U8(0))
	JNE(LabelRef("ended"))
	JMP(LabelRef("round"))
	r.many("endedMany", "endedPlaced")
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
	MOVQ(r.acc, r.b)
	SHRQ(U8(refineBefore), r.b)
	r.reverse(t, r.b, code, r.a)

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
	SHRXQ(r.length, r.b, r.b) // what follows the code

	MOVL(low(symbol), low(r.a))
	ANDL(U8(15), low(r.a))
	SHRL(U8(4), low(symbol))
	CMPL(low(r.a), U8(1))
	JHI(LabelRef("refused"))
	JNE(LabelRef("none"))
	MOVL(U32(1), low(r.a))
	SHLXL(low(symbol), low(r.a), low(r.place))
	ANDL(U8(1), low(r.b))
	LEAQ(Mem{Base: r.b, Disp: -1}, r.negative)
	INCL(low(r.length))
	JMP(LabelRef("symbol"))

	Label("none")
	CMPL(low(symbol), U8(15))
	JEQ(LabelRef("zeros"))
	ADDL(low(symbol), low(r.length))
	r.reverse(t, r.b, r.index, r.a)
	MOVL(U32(16), low(r.a))
	SUBL(low(symbol), low(r.a))
	SHRXL(low(r.a), low(r.index), low(r.index))
	MOVL(U32(1), low(r.a))
	SHLXL(low(symbol), low(r.a), low(r.a))
	ADDQ(r.a, r.index)
	MOVQ(r.index, r.run)
	r.drop()
	JMP(LabelRef("ended"))

	Label("zeros")
	MOVL(U32(1<<15), low(r.place))
	r.pass("zerosMany", "zerosPlaced")
	r.next()
	JMP(LabelRef("done"))
	r.many("zerosMany", "zerosPlaced")
}
