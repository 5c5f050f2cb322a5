package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An expander fills blocks one after the other.
type expander struct {
	blocks, last, n                 GPVirtual
	lengths, dcs, masks, flat, wide GPVirtual
	dc, all                         GPVirtual

	// fill writes a block without its DC coefficient. Bit k of the mask is
	// coefficient k. It may change the mask, and has to advance flat.
	fill func(mask GPVirtual)
}

// expand writes a function that fills n blocks with two of them in a round.
func expand(name, needs string, prepare func(e *expander, tables GPVirtual)) {
	TEXT(name, NOSPLIT, "func(blocks *int16, last *uint8, n int, lengths, dcs, masks *byte, flat *int8, wide *byte, tables *uint8) uint64")
	Pragma("noescape")
	Doc(name+" fills n blocks, without patches, and returns all masks in one number. It reads 7",
		"bytes beyond the masks, 63 elements beyond flat and 2 bytes beyond wide. It needs "+needs+".")
	load := func(param string) GPVirtual {
		r := GP64()
		Load(Param(param), r)
		return r
	}
	e := &expander{
		blocks: load("blocks"), last: load("last"), n: load("n"), lengths: load("lengths"), dcs: load("dcs"),
		masks: load("masks"), flat: load("flat"), wide: load("wide"), dc: GP64(), all: GP64(),
	}
	prepare(e, load("tables"))
	XORL(e.dc.As32(), e.dc.As32())
	XORQ(e.all, e.all)

	Label("blocks")
	e.block(func(length GPVirtual) {
		MOVBLZX(Mem{Base: e.lengths}, length.As32())
		ANDL(U8(15), length.As32())
	})
	DECQ(e.n)
	JZ(LabelRef("done"))
	e.block(func(length GPVirtual) {
		MOVBLZX(Mem{Base: e.lengths}, length.As32())
		SHRL(U8(4), length.As32())
		INCQ(e.lengths)
	})
	DECQ(e.n)
	JNZ(LabelRef("blocks"))
	Label("done")
	Store(e.all, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// block fills a block and advances.
func (e *expander) block(next func(length GPVirtual)) {
	length, mask, place := GP64(), GP64(), GP64()
	next(length)
	MOVQ(Mem{Base: e.masks}, mask)
	ADDQ(length, e.masks)
	SHLL(U8(3), length.As32())
	BZHIQ(length, mask, mask)
	ORQ(mask, e.all)
	ADDQ(mask, mask) // without an invalid coefficient 64
	MOVQ(mask, place)
	ORQ(U8(1), place)
	BSRQ(place, place)
	MOVB(place.As8(), Mem{Base: e.last})
	INCQ(e.last)

	e.fill(mask)

	difference, wide, after := GP64(), GP64(), GP64()
	MOVBLSX(Mem{Base: e.dcs}, difference.As32())
	INCQ(e.dcs)
	MOVWLZX(Mem{Base: e.wide}, wide.As32())
	LEAQ(Mem{Base: e.wide, Disp: 2}, after)
	CMPL(difference.As32(), I8(-128))
	CMOVLEQ(wide.As32(), difference.As32())
	CMOVQEQ(after, e.wide)
	ADDL(difference.As32(), e.dc.As32())
	MOVW(e.dc.As16(), Mem{Base: e.blocks})
	ADDQ(U32(128), e.blocks)
}

// expand64 handles a block as one vector of bytes.
func expand64() {
	expand("expand64", "AVX-512 VBMI2", func(e *expander, tables GPVirtual) {
		order := ZMM()
		VMOVDQU8(Mem{Base: tables}, order)
		e.fill = func(mask GPVirtual) {
			k, x, head := K(), ZMM(), ZMM()
			KMOVQ(mask, k)
			VMOVDQU8(Mem{Base: e.flat}, x)
			VPEXPANDB_Z(x, k, x)
			VPERMB(x, order, x)
			VPMOVSXBW(x.AsY(), head)
			VEXTRACTI64X4(U8(1), x, x.AsY())
			VPMOVSXBW(x.AsY(), x)
			VMOVDQU16(head, Mem{Base: e.blocks})
			VMOVDQU16(x, Mem{Base: e.blocks, Disp: 64})
			POPCNTQ(mask, mask)
			ADDQ(mask, e.flat)
		}
	})
}
