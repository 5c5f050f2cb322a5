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

// upsample doubles rows by the triangle filter, 16 samples at a time. Every sample
// has a neighbour on both sides.
func upsample() {
	three := words("three", 3)
	one, two := words("up1", 1), words("up2", 2)
	seven, eight := words("up7", 7), words("up8", 8)
	upsampleH2("upsampleH2x16", 16, YMM, three, one, two)
	Doc("upsampleH2x16 doubles the 16·n samples from src on.")
	upsampleH2V2("upsampleH2V2x16", 16, YMM, three, seven, eight)
	Doc("upsampleH2V2x16 mixes and doubles the 16·n samples from near and from far on.")
}

// upsample512 doubles rows 32 samples at a time.
func upsample512() {
	constant := func(name string, v int16) Mem { return pairs4(name, v, v) }
	three := constant("four_three", 3)
	one, two := constant("four_up1", 1), constant("four_up2", 2)
	seven, eight := constant("four_up7", 7), constant("four_up8", 8)
	upsampleH2("upsampleH2x32", 32, ZMM, three, one, two)
	Doc("upsampleH2x32 doubles the 32·n samples from src on. It needs AVX-512 F and BW.")
	upsampleH2V2("upsampleH2V2x32", 32, ZMM, three, seven, eight)
	Doc("upsampleH2V2x32 mixes and doubles the 32·n samples from near and from far on. It needs",
		"AVX-512 F and BW.")
}

func upsampleH2(name string, wide uint32, vector func() VecVirtual, threes, ones, twos Mem) {
	TEXT(name, NOSPLIT, "func(dst, src *byte, n int)")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	three, one, two := kept(vector, threes), kept(vector, ones), kept(vector, twos)
	Label("row")
	before, here, after := vector(), vector(), vector()
	VPMOVZXBW(Mem{Base: src, Disp: -1}, before)
	VPMOVZXBW(Mem{Base: src}, here)
	VPMOVZXBW(Mem{Base: src, Disp: 1}, after)
	double(dst, here, before, after, three, one, two, 2)
	ADDQ(U32(wide), src)
	ADDQ(U32(2*wide), dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func upsampleH2V2(name string, wide uint32, vector func() VecVirtual, threes, sevens, eights Mem) {
	TEXT(name, NOSPLIT, "func(dst, near, far *byte, n int)")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	near, far := Load(Param("near"), GP64()), Load(Param("far"), GP64())
	three, seven, eight := kept(vector, threes), kept(vector, sevens), kept(vector, eights)
	Label("rows")
	var mixed [3]VecVirtual
	for i := range mixed {
		mixed[i] = vector()
		other := vector()
		VPMOVZXBW(Mem{Base: near, Disp: i - 1}, mixed[i])
		VPMOVZXBW(Mem{Base: far, Disp: i - 1}, other)
		VPMULLW(three, mixed[i], mixed[i])
		VPADDW(other, mixed[i], mixed[i])
	}
	double(dst, mixed[1], mixed[0], mixed[2], three, eight, seven, 4)
	ADDQ(U32(wide), near)
	ADDQ(U32(wide), far)
	ADDQ(U32(2*wide), dst)
	DECQ(n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// kept loads a constant before a loop.
func kept(vector func() VecVirtual, constant Mem) VecVirtual {
	v := vector()
	if v.Size() == 64 {
		VMOVDQU64(constant, v)
	} else {
		VMOVDQU(constant, v)
	}
	return v
}

// double writes (3·here + before + left) and (3·here + after + right) alternately,
// shifted. It overwrites its arguments, except for the constants.
func double(dst Register, here, before, after, three, left, right VecVirtual, shift uint64) {
	VPMULLW(three, here, here)
	VPADDW(here, before, before)
	VPADDW(here, after, after)
	VPADDW(left, before, before)
	VPADDW(right, after, after)
	VPSRLW(U8(shift), before, before)
	VPSRLW(U8(shift), after, after)
	VPSLLW(U8(8), after, after)
	if before.Size() == 64 {
		VPORQ(after, before, before)
		VMOVDQU64(before, Mem{Base: dst})
	} else {
		VPOR(after, before, before)
		VMOVDQU(before, Mem{Base: dst})
	}
}
