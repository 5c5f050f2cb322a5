package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of pairs in internal/codec/jpeg: what is before and after the entries, by its
// distance from them, and the parts of an entry.
const (
	pairBits = 10
	pairEnds = 1 << 6
	pairSize = 11

	tableLimit  = -328
	tableOffset = -296
	tableDC     = -264
	tableSymbol = -256

	tableHead = 8 << pairBits

	entryFirst   = 1
	entryRest    = 2 // 64 minus the bits that it takes
	entryAdvance = 3
	entryValue   = 4
	entryPower   = 6
)

// The layout of a step.
const (
	stepTable = 8 * iota
	stepPlace
	stepLimit
	stepSize
)

// Where the reader's numbers are.
const (
	stateAt = 8 * iota
	stateAcc
	stateN
)

// A pairer holds the registers of the entropy decoder: all but the stack's.
type pairer struct {
	acc, n    Register // the next bits, and how many of them are ready
	in        Register // the address of the byte after them
	table     Register // of the next symbol: its entries
	place     Register // of the next coefficient
	step      Register
	values    Register
	shift     Register // 64-pairBits
	entry     Register // its lowest byte
	bits      Register
	a, b, c   Register // temporary
	inEnd     Mem
	stepEnd   Mem
	firstByte Mem
}

// decodePairs decodes blocks without a branch but a rare one, which is taken for long codes,
// for blocks filled to their last place, and for pairs that straddle a block's end.
func decodePairs() {
	TEXT("decodePairs", NOSPLIT, "func(state *uint64, stream *byte, end int, steps **uint64, n int, values *int16) bool")
	Doc("decodePairs decodes n steps with the bits of the stream's first end bytes. It reports",
		"false if a code is invalid, a coefficient is beyond its block's end, a value has more",
		"than 11 bits, or the stream ends too early. Then the state is as before. It needs BMI2.")
	p := &pairer{
		acc: RBX, n: R13, in: R8, table: R9, place: R11, step: RDI, values: R10, shift: R12,
		entry: RAX, bits: RDX, a: RSI, b: RCX, c: R14,
		inEnd: AllocLocal(8), stepEnd: AllocLocal(8), firstByte: AllocLocal(8),
	}
	p.load()
	Label("round")
	CMPQ(p.in, p.inEnd)
	JHI(LabelRef("refused"))
	p.refill()
	for range 3 {
		p.look()
	}
	CMPQ(p.step, p.stepEnd)
	JCS(LabelRef("round"))

	Label("done")
	Load(Param("state"), p.a)
	SUBQ(p.firstByte, p.in)
	ANDL(U8(63), low(p.n))
	MOVQ(p.in, Mem{Base: p.a, Disp: stateAt})
	MOVQ(p.acc, Mem{Base: p.a, Disp: stateAcc})
	MOVQ(p.n, Mem{Base: p.a, Disp: stateN})
	answer()

	p.rare()
}

// answer ends a kernel that returns whether it has read all: true here, and false at the
// label refused.
func answer() {
	MOVB(U8(1), AL)
	Store(AL, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("refused")
	XORL(EAX, EAX)
	Store(AL, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func low(r Register) Register { return r.(GPPhysical).As32() }

// load reads the arguments.
func (p *pairer) load() {
	Load(Param("stream"), p.in)
	MOVQ(p.in, p.firstByte)
	Load(Param("end"), p.a)
	LEAQ(Mem{Base: p.in, Index: p.a, Scale: 1, Disp: 8}, p.a) // up to 63 bits are ready
	MOVQ(p.a, p.inEnd)
	Load(Param("state"), p.a)
	ADDQ(Mem{Base: p.a, Disp: stateAt}, p.in)
	MOVQ(Mem{Base: p.a, Disp: stateAcc}, p.acc)
	MOVQ(Mem{Base: p.a, Disp: stateN}, p.n)
	Load(Param("steps"), p.step)
	Load(Param("n"), p.a)
	LEAQ(Mem{Base: p.a, Index: p.a, Scale: 2}, p.a)
	LEAQ(Mem{Base: p.step, Index: p.a, Scale: 8}, p.a)
	MOVQ(p.a, p.stepEnd)
	MOVQ(Mem{Base: p.step, Disp: stepTable}, p.table)
	MOVQ(Mem{Base: p.step, Disp: stepPlace}, p.place)
	Load(Param("values"), p.values)
	MOVQ(U32(64-pairBits), p.shift)
}

// refill makes 56 bits ready.
func (p *pairer) refill() {
	MOVQ(Mem{Base: p.in}, p.a)
	BSWAPQ(p.a)
	SHRXQ(p.n, p.a, p.a)
	ORQ(p.a, p.acc)
	MOVL(low(p.n), low(p.a))
	SHRL(U8(3), low(p.a))
	ANDL(U8(7), low(p.a))
	SUBQ(p.a, p.in)
	ADDQ(U8(7), p.in)
	ORL(U8(56), low(p.n))
}

// part is a part of the entry of index p.b.
func (p *pairer) part(disp int) Mem { return Mem{Base: p.table, Index: p.b, Scale: 8, Disp: disp} }

// look decodes an entry. The time that it takes is the time until the next index is known,
// so the lowest byte comes from bytes of its own: an address with a scaled index takes a
// cycle more. Its other parts are loaded again instead of shifted. The first
// coefficient is written before it is known to be within the block: if it is not, the
// blocks are refused.
func (p *pairer) look() {
	SHRXQ(p.shift, p.acc, p.b)
	MOVBLZX(Mem{Base: p.table, Index: p.b, Scale: 1, Disp: tableHead}, low(p.entry))
	MOVBLZX(p.part(entryRest), low(p.bits))
	SHRXQ(p.bits, p.acc, p.bits)
	SHLXQ(p.entry, p.acc, p.acc)
	SUBQ(p.entry, p.n) // only the lowest 6 bits of n count
	MOVBLZX(p.part(entryFirst), low(p.a))
	MOVWLZX(p.part(entryValue), low(p.c))
	MOVW(p.c.(GPPhysical).As16(), Mem{Base: p.place, Index: p.a, Scale: 2})
	MOVBLZX(p.part(entryAdvance), low(p.a))
	LEAQ(Mem{Base: p.place, Index: p.a, Scale: 2}, p.place)
	CMPQ(p.place, Mem{Base: p.step, Disp: stepLimit})
	JCC(LabelRef("rare"))
	MOVWQSX(p.part(entryPower), p.a)
	p.last()
	LEAQ(Mem{Base: p.step, Disp: stepSize}, p.c)
	TESTB(U8(pairEnds), p.entry.(GPPhysical).As8())
	CMOVQNE(Mem{Base: p.step, Disp: stepSize + stepTable}, p.table)
	CMOVQNE(Mem{Base: p.step, Disp: stepSize + stepPlace}, p.place)
	CMOVQNE(p.c, p.step)
}

// last writes an entry's last coefficient. p.a is -1<<size, p.bits are the bits.
func (p *pairer) last() {
	ANDNQ(p.bits, p.a, p.bits)
	SUBQ(p.a, p.bits)
	MOVWLZX(Mem{Base: p.values, Index: p.bits, Scale: 2}, low(p.a))
	MOVW(p.a.(GPPhysical).As16(), Mem{Base: p.place, Disp: -2})
}

// rare goes on after an entry that reaches the block's end. If it fills the block
// exactly, all of it belongs to the block. Otherwise its first symbol is decoded alone.
func (p *pairer) rare() {
	Label("rare") // after the comparison with the limit
	JNE(LabelRef("one"))
	MOVWQSX(p.part(entryPower), p.a)
	p.last()
	JMP(LabelRef("next"))

	Label("one")
	MOVBLZX(p.part(entryAdvance), low(p.b))
	ADDQ(p.b, p.b)
	SUBQ(p.b, p.place)
	ADDQ(p.entry, p.n)
	size, run := p.symbol()

	CMPQ(Mem{Base: p.table, Disp: tableDC}, U8(0))
	JNE(LabelRef("difference"))
	TESTL(low(size), low(size))
	JNE(LabelRef("coefficient"))
	CMPL(low(run), U32(15))
	JNE(LabelRef("next"))
	Label("coefficient")
	LEAQ(Mem{Base: p.place, Index: run, Scale: 2, Disp: 2}, p.place)
	CMPQ(p.place, Mem{Base: p.step, Disp: stepLimit})
	JHI(LabelRef("refused"))
	MOVW(p.c.(GPPhysical).As16(), Mem{Base: p.place, Disp: -2})
	JEQ(LabelRef("next"))
	JMP(LabelRef("round"))
	Label("difference")
	MOVW(p.c.(GPPhysical).As16(), Mem{Base: p.place})

	Label("next")
	MOVQ(Mem{Base: p.step, Disp: stepSize + stepTable}, p.table)
	MOVQ(Mem{Base: p.step, Disp: stepSize + stepPlace}, p.place)
	ADDQ(U8(stepSize), p.step)
	CMPQ(p.step, p.stepEnd)
	JCS(LabelRef("round"))
	JMP(LabelRef("done"))
}

// symbol takes one symbol and its value, which is then in p.c. The bits of the entry have
// been taken, but n counts them as ready.
func (p *pairer) symbol() (size, run Register) {
	MOVL(low(p.n), low(p.bits)) // how many bits are ready
	ANDL(U8(63), low(p.bits))
	LEAL(Mem{Base: p.bits, Disp: 7}, low(p.b))
	SHRL(U8(3), low(p.b))
	SUBQ(p.b, p.in)
	NEGL(low(p.bits))
	ANDL(U8(7), low(p.bits)) // how many bits of the byte are taken
	MOVQ(Mem{Base: p.in}, p.acc)
	BSWAPQ(p.acc)
	SHLXQ(p.bits, p.acc, p.acc)

	// The code's length is one more than the number of limits that it reaches.
	MOVQ(p.acc, p.b)
	SHRQ(U8(48), p.b)
	VMOVD(low(p.b), X0)
	VPBROADCASTW(X0, Y0)
	VPMAXUW(Mem{Base: p.table, Disp: tableLimit}, Y0, Y1)
	VPCMPEQW(Y0, Y1, Y1)
	VPMOVMSKB(Y1, low(p.a))
	POPCNTL(low(p.a), low(p.a))
	SHRL(U8(1), low(p.a))
	CMPL(low(p.a), U32(16))
	JCC(LabelRef("refused"))
	MOVWLSX(Mem{Base: p.table, Index: p.a, Scale: 2, Disp: tableOffset}, low(p.c))
	MOVL(U32(15), low(p.entry))
	SUBL(low(p.a), low(p.entry))
	SHRXL(low(p.entry), low(p.b), low(p.b))
	ADDL(low(p.b), low(p.c))
	MOVBLZX(p.c.(GPPhysical).As8(), low(p.c))
	MOVBLZX(Mem{Base: p.table, Index: p.c, Scale: 1, Disp: tableSymbol}, low(p.b))
	INCL(low(p.a))

	size, run = p.entry, p.b
	taken := p.a
	MOVL(low(p.b), low(size))
	ANDL(U8(15), low(size))
	SHRL(U8(4), low(run))
	CMPL(low(size), U32(pairSize))
	JHI(LabelRef("refused"))
	ADDL(low(size), low(taken))
	NEGL(low(taken))
	SHRXQ(taken, p.acc, p.c)
	NEGL(low(taken))
	BZHIQ(size, p.c, p.c)
	ADDL(low(taken), low(p.bits))
	MOVL(U32(1), low(p.a))
	SHLXL(low(size), low(p.a), low(p.a))
	ADDQ(p.a, p.c) // the value's index
	MOVL(low(p.bits), low(p.a))
	SHRL(U8(3), low(p.a))
	ADDQ(p.a, p.in)
	ANDL(U8(7), low(p.bits))
	MOVQ(Mem{Base: p.in}, p.acc)
	BSWAPQ(p.acc)
	SHLXQ(p.bits, p.acc, p.acc)
	ADDQ(U8(7), p.in)
	MOVL(U32(56), low(p.n))
	SUBL(low(p.bits), low(p.n))
	MOVWLSX(Mem{Base: p.values, Index: p.c, Scale: 2}, low(p.c))
	return size, run
}

// stateRun is where the number of blocks is that have ended after the last one.
const stateRun = 24

// A firster is a pairer for the first scan of some AC coefficients. It writes them into
// blocks that follow each other, whose coefficients of the selection are zero.
type firster struct {
	*pairer
	limit, low, rest   Register // the end of the selection in the block; the missing bits; of the entry
	lastLimit, blockBy Mem      // of the last block; from the end of the selection to its begin in the next block
}

// decodeFirst decodes blocks without a branch but a rare one, which is taken for long codes,
// for the end of several blocks, and for pairs that straddle the end of the selection.
func decodeFirst() {
	TEXT("decodeFirst", NOSPLIT, "func(state *uint64, stream *byte, end int, table *uint64, values, place *int16, n, size, low int) bool")
	Doc("decodeFirst decodes size coefficients from place on, and those of the next n-1 blocks, with",
		"the bits of the stream's first end bytes. It reports false if a code is invalid, a",
		"coefficient is beyond the selection, a value has more than 11 bits, or the stream ends",
		"too early. It needs BMI2.")
	f := &firster{
		pairer: &pairer{
			acc: RBX, n: R13, in: R8, table: R9, place: R11, values: R10,
			entry: RAX, bits: RDX, a: RSI, b: RCX, c: R14,
			inEnd: AllocLocal(8), firstByte: AllocLocal(8),
		},
		limit: RDI, low: R12, rest: R15, lastLimit: AllocLocal(8), blockBy: AllocLocal(8),
	}
	f.load()
	Label("round")
	CMPQ(f.in, f.inEnd)
	JHI(LabelRef("refused"))
	f.refill()
	for range 3 {
		f.look()
	}
	JMP(LabelRef("round"))

	Label("done")
	SUBQ(f.lastLimit, f.limit)
	SHRQ(U8(7), f.limit)
	DECQ(f.limit)
	Load(Param("state"), f.a)
	SUBQ(f.firstByte, f.in)
	ANDL(U8(63), low(f.n))
	MOVQ(f.in, Mem{Base: f.a, Disp: stateAt})
	MOVQ(f.acc, Mem{Base: f.a, Disp: stateAcc})
	MOVQ(f.n, Mem{Base: f.a, Disp: stateN})
	MOVQ(f.limit, Mem{Base: f.a, Disp: stateRun})
	answer()

	f.rare()
}

// load reads the arguments.
func (f *firster) load() {
	Load(Param("stream"), f.in)
	MOVQ(f.in, f.firstByte)
	Load(Param("end"), f.a)
	LEAQ(Mem{Base: f.in, Index: f.a, Scale: 1, Disp: 8}, f.a) // up to 63 bits are ready
	MOVQ(f.a, f.inEnd)
	Load(Param("state"), f.a)
	ADDQ(Mem{Base: f.a, Disp: stateAt}, f.in)
	MOVQ(Mem{Base: f.a, Disp: stateAcc}, f.acc)
	MOVQ(Mem{Base: f.a, Disp: stateN}, f.n)
	Load(Param("table"), f.table)
	Load(Param("values"), f.values)
	Load(Param("place"), f.place)
	Load(Param("low"), f.low)
	Load(Param("size"), f.a)
	LEAQ(Mem{Base: f.place, Index: f.a, Scale: 2}, f.limit)
	ADDQ(f.a, f.a)
	MOVQ(f.a, f.blockBy)
	Load(Param("n"), f.a)
	SHLQ(U8(7), f.a)
	LEAQ(Mem{Base: f.limit, Index: f.a, Scale: 1, Disp: -128}, f.a)
	MOVQ(f.a, f.lastLimit)
}

// look decodes an entry. It writes nothing before all of it is known to be within the
// selection. Then a zero may be written to the next place, or to that of the end.
func (f *firster) look() {
	part := func(disp int) Mem { return Mem{Base: f.table, Index: f.b, Scale: 8, Disp: disp} }
	MOVQ(f.acc, f.b)
	SHRQ(U8(64-pairBits), f.b)
	MOVQ(part(0), f.entry)
	MOVBQSX(part(entryRest), f.rest)
	SHRXQ(f.rest, f.acc, f.bits)
	SHLXQ(f.entry, f.acc, f.acc)
	SUBQ(f.entry, f.n) // only the lowest 6 bits of n count
	MOVBLZX(part(entryAdvance), low(f.c))
	LEAQ(Mem{Base: f.place, Index: f.c, Scale: 2}, f.c)
	MOVQ(f.limit, f.a)
	SUBQ(f.c, f.a)
	JCS(LabelRef("rare"))
	MOVBLZX(part(entryFirst), low(f.entry))
	LEAQ(Mem{Base: f.place, Index: f.entry, Scale: 2}, f.place)
	MOVWLZX(part(entryValue), low(f.entry))
	MOVW(f.entry.(GPPhysical).As16(), Mem{Base: f.place})
	MOVQ(f.c, f.place)
	MOVWQSX(part(entryPower), f.entry)
	ANDNQ(f.bits, f.entry, f.bits)
	SUBQ(f.entry, f.bits)
	MOVWLZX(Mem{Base: f.values, Index: f.bits, Scale: 2}, low(f.entry))
	SHLXL(low(f.low), low(f.entry), low(f.entry))
	MOVW(f.entry.(GPPhysical).As16(), Mem{Base: f.place, Disp: -2})

	// The block ends by the entry, or at the end of the selection.
	LEAQ(Mem{Base: f.limit, Disp: 128}, f.b)
	MOVQ(f.b, f.bits)
	SUBQ(f.blockBy, f.bits)
	DECQ(f.a)
	ORQ(f.rest, f.a)
	CMOVQMI(f.b, f.limit)
	CMOVQMI(f.bits, f.place)
	CMPQ(f.limit, f.lastLimit)
	JHI(LabelRef("done"))
}

// rare goes on after an entry that is none or beyond the selection: it decodes its first
// symbol alone.
func (f *firster) rare() {
	Label("rare")
	ADDQ(f.entry, f.n)
	size, run := f.symbol()
	TESTL(low(size), low(size))
	JEQ(LabelRef("none"))
	LEAQ(Mem{Base: f.place, Index: run, Scale: 2, Disp: 2}, f.place)
	CMPQ(f.place, f.limit)
	JHI(LabelRef("refused"))
	SHLXL(low(f.low), low(f.c), low(f.c))
	MOVW(f.c.(GPPhysical).As16(), Mem{Base: f.place, Disp: -2})
	JNE(LabelRef("round"))
	JMP(LabelRef("next"))

	Label("none")
	CMPL(low(run), U8(15))
	JEQ(LabelRef("zeros"))
	MOVQ(f.acc, f.a)
	SHRQ(U8(1), f.a)
	MOVL(U32(63), low(f.c))
	SUBL(low(run), low(f.c))
	SHRXQ(f.c, f.a, f.a)
	SHLXQ(run, f.acc, f.acc)
	SUBQ(run, f.n)
	MOVL(U32(1), low(f.c))
	SHLXL(low(run), low(f.c), low(f.c))
	LEAQ(Mem{Base: f.a, Index: f.c, Scale: 1, Disp: -1}, f.a)
	SHLQ(U8(7), f.a)
	ADDQ(f.a, f.limit)
	JMP(LabelRef("next"))

	Label("zeros")
	ADDQ(U8(32), f.place)
	CMPQ(f.place, f.limit)
	JCS(LabelRef("round"))

	Label("next")
	SUBQ(I8(-128), f.limit)
	MOVQ(f.limit, f.place)
	SUBQ(f.blockBy, f.place)
	CMPQ(f.limit, f.lastLimit)
	JLS(LabelRef("round"))
	JMP(LabelRef("done"))
}

// nonzero is a scan over whole blocks.
func nonzero() {
	TEXT("nonzero", NOSPLIT, "func(masks *uint64, blocks *int16, n int)")
	Doc("nonzero sets the masks of the coefficients of n blocks that differ from zero, but for the",
		"first of each block.")
	mask, block, n := Load(Param("masks"), GP64()), Load(Param("blocks"), GP64()), Load(Param("n"), GP64())
	zero := YMM()
	VPXOR(zero, zero, zero)
	Label("block")
	var halves [2]Register
	for i := range halves {
		a, b := YMM(), YMM()
		VPCMPEQW(Mem{Base: block, Disp: 64 * i}, zero, a)
		VPCMPEQW(Mem{Base: block, Disp: 64*i + 32}, zero, b)
		VPACKSSWB(b, a, a)
		VPERMQ(U8(0b11_01_10_00), a, a)
		halves[i] = GP64()
		VPMOVMSKB(a, halves[i].(GPVirtual).As32())
	}
	SHLQ(U8(32), halves[1])
	ORQ(halves[1], halves[0])
	ORQ(U8(1), halves[0])
	NOTQ(halves[0])
	MOVQ(halves[0], Mem{Base: mask})
	ADDQ(U8(8), mask)
	ADDQ(U32(128), block)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

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
