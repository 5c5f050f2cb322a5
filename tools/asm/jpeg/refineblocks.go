package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

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
