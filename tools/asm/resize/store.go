package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

type storeConstants struct {
	mask, part, partLow Mem
}

func newStoreConstants() storeConstants {
	return storeConstants{
		mask:    constant32("byteMask", 0xff),
		part:    constant32("part", math.Float32bits(part)),
		partLow: constant32("partLow", math.Float32bits(float32(1.0/255-float64(part)))),
	}
}

// part is 1/255, rounded.
const part = float32(1.0 / 255)

// store divides by multiplying with the reciprocal, which has 48 bits: a rounded part and a lower one. The product is rounded once, but for
// the lower part's, so it is the correctly rounded quotient unless that is within some 2⁻⁴⁷ of the middle between two values.
func store(constants storeConstants) {
	TEXT("store8", NOSPLIT, "func(red, green, blue *float32, src *byte, n int, mean, inverse, low *[3]float32)")
	Doc("store8 writes n times eight pixels to three planes, as (x/255 - mean)/std. inverse + low is 1/std.")
	planes := [3]Register{Load(Param("red"), GP64()), Load(Param("green"), GP64()), Load(Param("blue"), GP64())}
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	params := []Register{Load(Param("mean"), GP64()), Load(Param("inverse"), GP64()), Load(Param("low"), GP64())}
	mask, unit, unitLow := YMM(), YMM(), YMM()
	VMOVDQU(constants.mask, mask)
	VMOVDQU(constants.part, unit)
	VMOVDQU(constants.partLow, unitLow)
	var channel [3][3]VecVirtual // by parameter and channel
	for i, p := range params {
		for c := range 3 {
			channel[i][c] = YMM()
			VBROADCASTSS(Mem{Base: p, Disp: 4 * c}, channel[i][c])
		}
	}
	Label("pixels")
	for c := range 3 {
		x, q := YMM(), YMM()
		if c == 0 {
			VPAND(Mem{Base: src}, mask, x)
		} else {
			VMOVDQU(Mem{Base: src}, x)
			VPSRLD(U8(8*c), x, x)
			VPAND(mask, x, x)
		}
		normalise(x, q, unit, unitLow, channel[0][c], channel[1][c], channel[2][c])
		VMOVUPS(q, Mem{Base: planes[c]})
		ADDQ(U8(32), planes[c])
	}
	ADDQ(U8(32), src)
	DECQ(n)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// normalise turns the integers in x into (x/255 - mean)/std in q. It spends x.
func normalise(x, q, unit, unitLow, mean, inverse, low VecVirtual) {
	VCVTDQ2PS(x, x)
	VMULPS(unitLow, x, q)
	VFMADD231PS(unit, x, q)
	VSUBPS(mean, q, x)
	VMULPS(low, x, q)
	VFMADD231PS(inverse, x, q)
}

func storePlane(constants storeConstants) {
	TEXT("storePlane8", NOSPLIT, "func(dst *float32, src *byte, n int, mean, inverse, low *float32)")
	Doc("storePlane8 writes n times eight samples of one channel, as (x/255 - mean)/std. inverse + low is 1/std.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	unit, unitLow := YMM(), YMM()
	VMOVDQU(constants.part, unit)
	VMOVDQU(constants.partLow, unitLow)
	var channel [3]VecVirtual
	for i, name := range []string{"mean", "inverse", "low"} {
		channel[i] = YMM()
		VBROADCASTSS(Mem{Base: Load(Param(name), GP64())}, channel[i])
	}
	Label("samples")
	x, q := YMM(), YMM()
	VPMOVZXBD(Mem{Base: src}, x)
	normalise(x, q, unit, unitLow, channel[0], channel[1], channel[2])
	VMOVUPS(q, Mem{Base: dst})
	ADDQ(U8(8), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}

// interleaveBytes makes three bytes of the four of each pixel.
func interleaveBytes() {
	joined := indices("joined", [8]uint32{0, 1, 2, 4, 5, 6})
	TEXT("interleaveBytes", NOSPLIT, "func(dst, src *byte, n int, order *[16]byte)")
	Pragma("noescape")
	Doc("interleaveBytes writes n times eight pixels of three bytes, and overwrites eight bytes after them. Order says which of the 16",
		"bytes of four pixels the twelve are, and is 0xff after them.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	order, join := YMM(), YMM()
	VBROADCASTI128(Mem{Base: Load(Param("order"), GP64())}, order)
	VMOVDQU(joined, join)
	Label("pixels")
	x := YMM()
	VMOVDQU(Mem{Base: src}, x)
	VPSHUFB(order, x, x)
	VPERMD(x, join, x)
	VMOVDQU(x, Mem{Base: dst})
	ADDQ(U8(32), src)
	ADDQ(U8(24), dst)
	DECQ(n)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// separateBytes makes a plane of the bytes of one colour.
func separateBytes() {
	fours := indices("fours", [8]uint32{0, 4, 1, 5, 2, 6, 3, 7})
	TEXT("separateBytes", NOSPLIT, "func(dst, src *byte, n int, order *[16]byte)")
	Pragma("noescape")
	Doc("separateBytes writes n times 32 bytes of one colour, whose places in 16 pixels of four bytes are the order.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	order, sort := YMM(), YMM()
	VBROADCASTI128(Mem{Base: Load(Param("order"), GP64())}, order)
	VMOVDQU(fours, sort)
	Label("samples")
	// Only the lowest four bits of an index count, so every dword of a lane has the four bytes of its pixels.
	x := YMM()
	VMOVDQU(Mem{Base: src}, x)
	VPSHUFB(order, x, x)
	for i := 1; i < 4; i++ {
		y := YMM()
		VMOVDQU(Mem{Base: src, Disp: 32 * i}, y)
		VPSHUFB(order, y, y)
		VPBLENDD(U8(0x11<<i), y, x, x)
	}
	VPERMD(x, sort, x)
	VMOVDQU(x, Mem{Base: dst})
	SUBQ(I8(-128), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}
