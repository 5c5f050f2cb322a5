package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

type storeConstants struct {
	mask, full, part Mem
}

func newStoreConstants() storeConstants {
	return storeConstants{
		mask: constant32("byteMask", 0xff),
		full: constant32("full", math.Float32bits(255)),
		part: constant32("part", math.Float32bits(1.0/255)),
	}
}

// store divides by multiplying with the reciprocal and correcting the quotient
// by its remainder, which gives the correctly rounded quotient: Markstein,
// "Computation of elementary functions on the IBM RISC System/6000", 1990.
func store(constants storeConstants) {
	TEXT("store8", NOSPLIT, "func(red, green, blue *float32, src *byte, n int, mean, std, inverse *[3]float32)")
	Doc("store8 writes n times eight pixels to three planes, as (x/255 - mean)/std. inverse is 1/std.")
	planes := [3]Register{Load(Param("red"), GP64()), Load(Param("green"), GP64()), Load(Param("blue"), GP64())}
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	params := []Register{Load(Param("mean"), GP64()), Load(Param("std"), GP64()), Load(Param("inverse"), GP64())}
	mask, scale, unit := YMM(), YMM(), YMM()
	VMOVDQU(constants.mask, mask)
	VMOVDQU(constants.full, scale)
	VMOVDQU(constants.part, unit)
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
		normalise(x, q, scale, unit, channel[0][c], channel[1][c], channel[2][c])
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
func normalise(x, q, scale, unit, mean, std, inverse VecVirtual) {
	VCVTDQ2PS(x, x)
	VMULPS(unit, x, q)
	VFNMADD231PS(scale, q, x)
	VFMADD231PS(unit, x, q)
	VSUBPS(mean, q, x)
	VMULPS(inverse, x, q)
	VFNMADD231PS(std, q, x)
	VFMADD231PS(inverse, x, q)
}

func storePlane(constants storeConstants) {
	TEXT("storePlane8", NOSPLIT, "func(dst *float32, src *byte, n int, mean, std, inverse *float32)")
	Doc("storePlane8 writes n times eight samples of one channel, as (x/255 - mean)/std. inverse is 1/std.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	scale, unit := YMM(), YMM()
	VMOVDQU(constants.full, scale)
	VMOVDQU(constants.part, unit)
	var channel [3]VecVirtual
	for i, name := range []string{"mean", "std", "inverse"} {
		channel[i] = YMM()
		VBROADCASTSS(Mem{Base: Load(Param(name), GP64())}, channel[i])
	}
	Label("samples")
	x, q := YMM(), YMM()
	VPMOVZXBD(Mem{Base: src}, x)
	normalise(x, q, scale, unit, channel[0], channel[1], channel[2])
	VMOVUPS(q, Mem{Base: dst})
	ADDQ(U8(8), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}
