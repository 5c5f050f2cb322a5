package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// inverseStretch computes the samples of blocks as decodePairs leaves them, without a
// row of blocks in between.
func inverseStretch(c *constants4) {
	var order [2]Mem
	place := zigzag()
	for h := range order {
		order[h] = GLOBL([]string{"stretch_upper", "stretch_lower"}[h], RODATA|NOPTR)
		for i, k := range place[32*h : 32*h+32] {
			DATA(2*i, U16(uint16(k)))
		}
	}
	dc := GLOBL("stretch_dc", RODATA|NOPTR) // the DC coefficients of four lanes
	for i := range 32 {
		v := uint16(0)
		if i%8 == 0 {
			v = 0xffff
		}
		DATA(2*i, U16(v))
	}
	four := pairs4("stretch_four", 4, 4)
	first := GLOBL("stretch_first", RODATA|NOPTR) // the first quadword of each lane
	for i := range 8 {
		DATA(8*i, U64(2*i%8))
	}

	TEXT("inverseStretch4", NOSPLIT, "func(dst *byte, stride int, blocks *int16, second, third, step int, quant *int16, n int) (left int)")
	Pragma("noescape")
	Doc("inverseStretch4 writes the samples of n times four neighbouring blocks in zigzag order, and",
		"clears them. The second, the third and the next first block are so many bytes after the",
		"first one, and the fourth second+third. Quant is in zigzag order. It ends before blocks with",
		"a value beyond ±8191 in their first row, and returns how many times four are left. It needs",
		"AVX-512 F, BW and VBMI.")
	p := newPass4(c)
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	blocks, quant := Load(Param("blocks"), GP64()), Load(Param("quant"), GP64())
	second, third := Load(Param("second"), GP64()), Load(Param("third"), GP64())
	step, n := Load(Param("step"), GP64()), Load(Param("n"), GP64())

	Label("four")
	at, fourth := GP64(), GP64()
	LEAQ(Mem{Base: blocks, Index: third, Scale: 1}, fourth)
	ADDQ(second, fourth)
	block := [4]Mem{{Base: blocks}, {Base: blocks, Index: second, Scale: 1}, {Base: blocks, Index: third, Scale: 1}, {Base: fourth}}
	var halves [2][4]VecVirtual
	for b, from := range block {
		a, z := ZMM(), ZMM()
		VMOVDQU64(from, a)
		VMOVDQU64(from.Offset(64), z)
		VPMULLW(Mem{Base: quant}, a, a)
		VPMULLW(Mem{Base: quant, Disp: 64}, z, z)
		for h := range halves {
			halves[h][b] = ZMM()
			VMOVDQU64(order[h], halves[h][b])
			VPERMI2W(z, a, halves[h][b])
		}
	}
	rows := sorted(halves)
	p.refuse(rows[0], "wild")
	for _, to := range block {
		VMOVDQU64(p.zero, to)
		VMOVDQU64(p.zero, to.Offset(64))
	}
	// All AC coefficients in one vector.
	const or3 = 0xfe
	any, differs := ZMM(), K()
	VMOVDQU64(dc, any)
	VPANDNQ(rows[0], any, any)
	for i := 1; i < 7; i += 2 {
		VPTERNLOGQ(U8(or3), rows[i+1], rows[i], any)
	}
	VPORQ(rows[7], any, any)
	VPTESTMQ(any, any, differs)
	KORTESTW(differs, differs)
	MOVQ(dst, at)
	JZ(LabelRef("flat"))
	p.samples(rows, at, stride)

	Label("next")
	ADDQ(U8(32), dst)
	ADDQ(step, blocks)
	DECQ(n)
	JNZ(LabelRef("four"))
	Label("wild")
	Store(n, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("flat") // as the passes compute it, without the steps that change nothing
	VPADDW(four, rows[0], rows[0])
	VPSRAW(U8(3), rows[0], rows[0])
	VPACKSSWB(rows[0], rows[0], rows[0])
	VPXORQ(p.flip, rows[0], rows[0])
	VPSHUFB(p.zero, rows[0], rows[0])
	quads := ZMM()
	VMOVDQU64(first, quads)
	VPERMQ(rows[0], quads, rows[0])
	for range 4 {
		VMOVDQU(rows[0].AsY(), Mem{Base: at})
		VMOVDQU(rows[0].AsY(), Mem{Base: at, Index: stride, Scale: 1})
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	}
	JMP(LabelRef("next"))
}
