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
