package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Multiples of 1/32768: 1.402 - 1 and 1.772 - 1. Their rounded products with the 256
// possible samples are those of the portable code's 16 bits of fraction. Green needs
// these: 0.714 = 1 - 18734/65536.
const (
	redPart  = 13173
	bluePart = 25297
)

// color converts 16 pixels at once.
func color() {
	red, blue := words("red", redPart), words("blue", bluePart)
	green := pairs("green", -22554, 18734)
	half := dwords("halfUnit", 1<<15)
	middle := words("middle", 128)
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
	r, g, b := colors(YMM, y, cb, cr, red, blue, green, half)

	VPACKUSWB(r, r, r)
	VPACKUSWB(g, g, g)
	VPACKUSWB(b, b, b)
	x := YMM()
	VMOVDQU(opaque, x)
	VPUNPCKLBW(g, r, r)
	VPUNPCKLBW(x, b, b)
	lower, upper, first, second := YMM(), YMM(), YMM(), YMM()
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

// colors returns words of red, green and blue, which may be beyond a byte. It spends
// its arguments.
func colors(vector func() VecVirtual, y, cb, cr VecVirtual, red, blue, green, half Op) (r, g, b VecVirtual) {
	lower, upper := vector(), vector()
	VPUNPCKLWD(cr, cb, lower)
	VPUNPCKHWD(cr, cb, upper)
	for _, v := range []Op{lower, upper} {
		VPMADDWD(green, v, v)
		VPADDD(half, v, v)
		VPSRAD(U8(16), v, v)
	}
	VPACKSSDW(upper, lower, lower)
	VPSUBW(cr, lower, lower)
	VPADDW(y, lower, lower)

	r, b = vector(), vector()
	VPMULHRSW(red, cr, r)
	VPADDW(cr, r, r)
	VPADDW(y, r, r)
	VPMULHRSW(blue, cb, b)
	VPADDW(cb, b, b)
	VPADDW(y, b, b)
	return r, lower, b
}

// color512 converts 32 pixels at once.
func color512() {
	words512 := func(name string, v int16) VecVirtual {
		z := ZMM()
		VMOVDQU64(pairs4(name, v, v), z)
		return z
	}
	// Of 128 bytes with lanes of 8 red and 8 blue samples, and then lanes of 8 green ones
	// and 8 of 255: the first 16 pixels. The others' are 32 later.
	order := GLOBL("four_pixels", RODATA|NOPTR)
	for p := range 16 {
		at := p/8*16 + p%8
		for c, b := range []int{at, 64 + at, at + 8, 64 + at + 8} {
			DATA(4*p+c, U8(b))
		}
	}
	later := dwords4("four_later", 0x20202020)

	TEXT("colorYCbCr32", NOSPLIT, "func(dst, luma, cb, cr *byte, n int)")
	Doc("colorYCbCr32 converts 32·n pixels. It needs AVX-512 F, BW and VBMI.")
	dst, luma := Load(Param("dst"), GP64()), Load(Param("luma"), GP64())
	cbAt, crAt, n := Load(Param("cb"), GP64()), Load(Param("cr"), GP64()), Load(Param("n"), GP64())
	red, blue, middle, opaque := words512("four_red", redPart), words512("four_blue", bluePart), words512("four_middle", 128), words512("four_opaque", 255)
	green, half, first, second := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(pairs4("four_green", -22554, 18734), green)
	VMOVDQU64(dwords4("four_half", 1<<15), half)
	VMOVDQU64(order, first)
	VPADDB(later, first, second)

	Label("colors")
	y, cb, cr := ZMM(), ZMM(), ZMM()
	VPMOVZXBW(Mem{Base: luma}, y)
	VPMOVZXBW(Mem{Base: cbAt}, cb)
	VPMOVZXBW(Mem{Base: crAt}, cr)
	VPSUBW(middle, cb, cb)
	VPSUBW(middle, cr, cr)
	r, g, b := colors(ZMM, y, cb, cr, red, blue, green, half)
	VPACKUSWB(b, r, r)
	VPACKUSWB(opaque, g, g)
	one, two := ZMM(), ZMM()
	VMOVDQA64(first, one)
	VPERMI2B(g, r, one)
	VMOVDQA64(second, two)
	VPERMI2B(g, r, two)
	VMOVDQU64(one, Mem{Base: dst})
	VMOVDQU64(two, Mem{Base: dst, Disp: 64})
	SUBQ(I8(-128), dst)
	ADDQ(U8(32), luma)
	ADDQ(U8(32), cbAt)
	ADDQ(U8(32), crAt)
	DECQ(n)
	JNZ(LabelRef("colors"))
	VZEROUPPER()
	RET()
}
