package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

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
