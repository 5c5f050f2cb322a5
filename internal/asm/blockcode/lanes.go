package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes    = 4
	codeBits = 11
	once     = 57 / codeBits // how many codes a load of 64 bits has at least
)

// A laneReader decodes one code of each lane in a round.
type laneReader struct {
	dst, table, src Register
	at, acc         [lanes]GPVirtual
}

// readLanes decodes Huffman codes, an entry of the table at a time.
func readLanes() {
	TEXT("readLanes", NOSPLIT, "func(dst *byte, rounds int, table *uint16, src *byte, limit int, at *int) int")
	Pragma("noescape")
	Doc("readLanes decodes rounds times four bytes. at has the bits before the next one of each lane.",
		"It stops when a lane is beyond bit limit of src, of which it reads 8 bytes more. It returns",
		"how many rounds are left, and needs BMI2.")
	r := &laneReader{dst: Load(Param("dst"), GP64()), table: Load(Param("table"), GP64()), src: Load(Param("src"), GP64())}
	rounds, state := Load(Param("rounds"), GP64()), GP64()
	Load(Param("at"), state)
	for i := range lanes {
		r.at[i], r.acc[i] = GP64(), GP64()
		MOVQ(Mem{Base: state, Disp: 8 * i}, r.at[i])
	}
	Label("many")
	SUBQ(U8(once), rounds)
	JL(LabelRef("rest"))
	r.refill("over")
	for i := range once {
		r.round(lanes * i)
	}
	ADDQ(U8(lanes*once), r.dst)
	JMP(LabelRef("many"))

	Label("rest")
	ADDQ(U8(once), rounds)
	JZ(LabelRef("done"))
	Label("one")
	r.refill("done")
	r.round(0)
	ADDQ(U8(lanes), r.dst)
	DECQ(rounds)
	JNZ(LabelRef("one"))
	Label("done")
	Load(Param("at"), state)
	for i := range lanes {
		MOVQ(r.at[i], Mem{Base: state, Disp: 8 * i})
	}
	Store(rounds, ReturnIndex(0))
	RET()

	Label("over")
	ADDQ(U8(once), rounds)
	JMP(LabelRef("done"))
}

// refill loads the next bits of all lanes, or jumps to a label if there are none.
func (r *laneReader) refill(over string) {
	limit := NewParamAddr("limit", 32)
	for i := range lanes {
		CMPQ(r.at[i], limit)
		JG(LabelRef(over))
	}
	for i := range lanes {
		t := GP64()
		MOVQ(r.at[i], t)
		SHRQ(U8(3), t)
		MOVQ(Mem{Base: r.src, Index: t, Scale: 1}, r.acc[i])
		MOVL(r.at[i].As32(), t.As32())
		ANDL(U8(7), t.As32())
		SHRXQ(t, r.acc[i], r.acc[i])
	}
}

// round decodes a code of each lane. The lower byte of an entry is the code's length,
// and the upper one the symbol.
func (r *laneReader) round(to int) {
	for i := range lanes {
		symbol, t := GP64(), GP64()
		MOVL(r.acc[i].As32(), t.As32())
		ANDL(U32(1<<codeBits-1), t.As32())
		MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2, Disp: 1}, symbol.As32())
		MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2}, t.As32())
		SHRXQ(t, r.acc[i], r.acc[i])
		ADDQ(t, r.at[i])
		MOVB(symbol.As8(), Mem{Base: r.dst, Disp: to + i})
	}
}
