package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

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
