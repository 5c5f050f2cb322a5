package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// color computes with words, and with the portable code's 16 bits of fraction:
// 1.402 = 1 + 26345/65536, 1.772 = 2 - 14942/65536 and 0.714 = 1 - 18734/65536.
// Half of (the high product plus one) is the rounded product.
func color() {
	red, blue := words("red", 26345), words("blue", -14942)
	green := pairs("green", -22554, 18734)
	half := dwords("halfUnit", 1<<15)
	middle, one := words("middle", 128), words("one", 1)
	opaque := dwords("opaque", 0xffffffff)

	TEXT("colorYCbCr16", NOSPLIT, "func(dst, luma, cb, cr *byte, n int)")
	Doc("colorYCbCr16 converts 16·n pixels.")
	dst, luma := Load(Param("dst"), GP64()), Load(Param("luma"), GP64())
	cbAt, crAt, n := Load(Param("cb"), GP64()), Load(Param("cr"), GP64()), Load(Param("n"), GP64())

	Label("colors")
	y, cb, cr := YMM(), YMM(), YMM()
	VPMOVZXBW(Mem{Base: luma}, y)
	VPMOVZXBW(Mem{Base: cbAt}, cb)
	VPMOVZXBW(Mem{Base: crAt}, cr)
	VPSUBW(middle, cb, cb)
	VPSUBW(middle, cr, cr)

	lower, upper := YMM(), YMM()
	VPUNPCKLWD(cr, cb, lower)
	VPUNPCKHWD(cr, cb, upper)
	g := YMM()
	for _, v := range []Op{lower, upper} {
		VPMADDWD(green, v, v)
		VPADDD(half, v, v)
		VPSRAD(U8(16), v, v)
	}
	VPACKSSDW(upper, lower, g)
	VPSUBW(cr, g, g)
	VPADDW(y, g, g)

	r, b, twice := YMM(), YMM(), YMM()
	VPADDW(cr, cr, r)
	VPMULHW(red, r, r)
	VPADDW(one, r, r)
	VPSRAW(U8(1), r, r)
	VPADDW(cr, r, r)
	VPADDW(y, r, r)

	VPADDW(cb, cb, twice)
	VPMULHW(blue, twice, b)
	VPADDW(one, b, b)
	VPSRAW(U8(1), b, b)
	VPADDW(twice, b, b)
	VPADDW(y, b, b)

	VPACKUSWB(r, r, r)
	VPACKUSWB(g, g, g)
	VPACKUSWB(b, b, b)
	x := YMM()
	VMOVDQU(opaque, x)
	VPUNPCKLBW(g, r, r)
	VPUNPCKLBW(x, b, b)
	first, second := YMM(), YMM()
	VPUNPCKLWD(b, r, lower)
	VPUNPCKHWD(b, r, upper)
	VPERM2I128(U8(0x20), upper, lower, first)
	VPERM2I128(U8(0x31), upper, lower, second)
	VMOVDQU(first, Mem{Base: dst})
	VMOVDQU(second, Mem{Base: dst, Disp: 32})
	ADDQ(U8(64), dst)
	ADDQ(U8(16), luma)
	ADDQ(U8(16), cbAt)
	ADDQ(U8(16), crAt)
	DECQ(n)
	JNZ(LabelRef("colors"))
	VZEROUPPER()
	RET()
}
