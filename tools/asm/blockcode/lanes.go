package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes    = 8
	codeBits = 11
	once     = 56 / codeBits // how many codes a load of 64 bits has at least, without its last bit
)

// A laneReader decodes one code of each lane after the other.
type laneReader struct {
	dst, table, src, at Register
	bits                [lanes]GPVirtual // the next ones; the leading zeros count what has been taken
}

// readLanes decodes Huffman codes, an entry of the table at a time.
func readLanes() {
	TEXT("readLanes", NOSPLIT, "func(dst *byte, n int, table *uint16, src *byte, limit int, at *int) int")
	Pragma("noescape")
	Doc("readLanes decodes n bytes, in turn from each lane. at has the bits before the next one of each",
		"lane. It stops when a lane is beyond bit limit of src, of which it reads 8 bytes more. It",
		"returns how many bytes are left. It needs BMI2 and LZCNT, which all processors with BMI2 have.")
	r := &laneReader{
		dst: Load(Param("dst"), GP64()), table: Load(Param("table"), GP64()),
		src: Load(Param("src"), GP64()), at: Load(Param("at"), GP64()),
	}
	n := NewParamAddr("n", 8)
	for i := range r.bits {
		r.bits[i] = GP64()
		MOVQ(I32(-1), r.bits[i])
	}
	Label("many")
	SUBQ(U8(lanes*once), n)
	JL(LabelRef("rest"))
	r.refill("over")
	for i := range once {
		for lane := range lanes {
			r.code(lane, lanes*i+lane)
		}
	}
	ADDQ(U8(lanes*once), r.dst)
	JMP(LabelRef("many"))

	Label("over")
	ADDQ(U8(lanes*once), n)
	JMP(LabelRef("done"))

	Label("rest")
	ADDQ(U8(lanes*once), n)
	JZ(LabelRef("done"))
	r.refill("done")
	Label("round")
	SUBQ(U8(lanes), n)
	JL(LabelRef("last"))
	for lane := range lanes {
		r.code(lane, lane)
	}
	ADDQ(U8(lanes), r.dst)
	JMP(LabelRef("round"))
	Label("last")
	ADDQ(U8(lanes), n)
	for lane := range lanes - 1 {
		JZ(LabelRef("done"))
		r.code(lane, lane)
		DECQ(n)
	}

	Label("done")
	for i, bits := range r.bits {
		LZCNTQ(bits, bits)
		ADDQ(bits, Mem{Base: r.at, Disp: 8 * i})
	}
	left := GP64()
	MOVQ(n, left)
	Store(left, ReturnIndex(0))
	RET()
}

// refill loads the next bits of all lanes. It jumps to a label if a lane has none.
func (r *laneReader) refill(over string) {
	limit := NewParamAddr("limit", 32)
	for i, bits := range r.bits {
		at, t := Mem{Base: r.at, Disp: 8 * i}, GP64()
		LZCNTQ(bits, bits)
		ADDQ(at, bits)
		MOVQ(bits, at)
		MOVQ(bits, t)
		MOVQ(I32(-1), bits) // nothing has been taken
		CMPQ(t, limit)
		JG(LabelRef(over))
		MOVQ(t, bits)
		SHRQ(U8(3), bits)
		MOVQ(Mem{Base: r.src, Index: bits, Scale: 1}, bits)
		ANDL(U8(7), t.As32())
		SHRXQ(t, bits, bits)
		BTSQ(U8(63), bits)
	}
}

// code decodes a code. The lower byte of an entry is the code's length, and the upper
// one the symbol.
func (r *laneReader) code(lane, to int) {
	bits, symbol, t := r.bits[lane], GP64(), GP64()
	MOVL(bits.As32(), t.As32())
	ANDL(U32(1<<codeBits-1), t.As32())
	MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2, Disp: 1}, symbol.As32())
	MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2}, t.As32())
	SHRXQ(t, bits, bits)
	MOVB(symbol.As8(), Mem{Base: r.dst, Disp: to})
}
