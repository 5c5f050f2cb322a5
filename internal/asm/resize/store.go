package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A format is what normalised values are stored as.
type format struct {
	name, plane string // of the functions
	element     string
	size        int
}

var (
	toFloat32  = format{"store8", "storePlane8", "float32", 4}
	toFloat16  = format{"storeFloat16", "storePlaneFloat16", "uint16", 2}
	toBFloat16 = format{"storeBFloat16", "storePlaneBFloat16", "uint16", 2}
)

func (f format) doc(what string) string {
	text := what + ", as (x/255 - mean)/std"
	switch f {
	case toFloat16:
		text += " rounded to float16"
	case toBFloat16:
		text += " rounded to bfloat16, ties away from 0"
	}
	return text + ". inverse is 1/std."
}

type storeConstants struct {
	mask, full, part, half Mem
}

func newStoreConstants() storeConstants {
	return storeConstants{
		mask: constant32("byteMask", 0xff),
		full: constant32("full", math.Float32bits(255)),
		part: constant32("part", math.Float32bits(1.0/255)),
		half: constant32("halfUnit16", 1<<15),
	}
}

// store divides by multiplying with the reciprocal and correcting the quotient
// by its remainder, which gives the correctly rounded quotient: Markstein,
// "Computation of elementary functions on the IBM RISC System/6000", 1990.
func store(f format, constants storeConstants) {
	TEXT(f.name, NOSPLIT, fmt.Sprintf("func(red, green, blue *%s, src *byte, n int, mean, std, inverse *[3]float32)", f.element))
	Doc(f.doc(f.name + " writes n times eight pixels to three planes"))
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
		write(f, constants, q, Mem{Base: planes[c]})
		ADDQ(U8(8*f.size), planes[c])
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

// write stores the eight values of q, which are no NaNs. It spends q.
func write(f format, constants storeConstants, q VecVirtual, to Mem) {
	switch f {
	case toFloat32:
		VMOVUPS(q, to)
	case toFloat16:
		const nearestEven = 0
		VCVTPS2PH(U8(nearestEven), q, q.AsX())
		VMOVDQU(q.AsX(), to)
	case toBFloat16: // rounds ties up: the caller looks whether there are any
		VPADDD(constants.half, q, q)
		VPSRLD(U8(16), q, q)
		high := XMM()
		VEXTRACTI128(U8(1), q, high)
		VPACKUSDW(high, q.AsX(), high)
		VMOVDQU(high, to)
	}
}

func storePlane(f format, constants storeConstants) {
	TEXT(f.plane, NOSPLIT, fmt.Sprintf("func(dst *%s, src *byte, n int, mean, std, inverse *float32)", f.element))
	Doc(f.doc(f.plane + " writes n times eight samples of one channel"))
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
	write(f, constants, q, Mem{Base: dst})
	ADDQ(U8(8), src)
	ADDQ(U8(8*f.size), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}
