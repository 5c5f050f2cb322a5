package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Halves need fewer operations than float32: one multiplication and addition, whose
// numbers the caller chooses such that all 256 bytes give the right halves.

// A halfFormat is float16 or bfloat16. Sixteen values are computed in two registers,
// either the first and the last eight, or those with even and with odd numbers.
type halfFormat struct {
	name, plane, rounding string
	alternate             bool
	write                 func(x, y VecVirtual, to Register, half VecVirtual)
}

var (
	float16  = halfFormat{"storeFloat16", "storePlaneFloat16", "float16", false, writeFloat16}
	bfloat16 = halfFormat{"storeBFloat16", "storePlaneBFloat16", "bfloat16, ties away from 0", true, writeBFloat16}
)

func (f halfFormat) doc(what string) string {
	return fmt.Sprintf("%s, as x·scale + shift rounded to %s.", what, f.rounding)
}

// channelMask is a shuffle that turns pixels into integers, the bytes of channel c.
func channelMask(c int) Mem {
	m := GLOBL(fmt.Sprint("channel", c), RODATA|NOPTR)
	for p := range 8 {
		DATA(4*p, U32(0x80808000+uint32(p%4*4+c)))
	}
	return m
}

func storeHalves(f halfFormat, masks [3]Mem, unit Mem) {
	TEXT(f.name, NOSPLIT, "func(red, green, blue *uint16, src *byte, n int, scale, shift *[3]float32)")
	Doc(f.doc(f.name + " writes n times 16 pixels to three planes"))
	planes := [3]Register{Load(Param("red"), GP64()), Load(Param("green"), GP64()), Load(Param("blue"), GP64())}
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	scales, shifts := Load(Param("scale"), GP64()), Load(Param("shift"), GP64())
	var mask, scale, shift [3]VecVirtual
	for c := range 3 {
		mask[c], scale[c], shift[c] = YMM(), YMM(), YMM()
		VMOVDQU(masks[c], mask[c])
		VBROADCASTSS(Mem{Base: scales, Disp: 4 * c}, scale[c])
		VBROADCASTSS(Mem{Base: shifts, Disp: 4 * c}, shift[c])
	}
	half := YMM()
	if f.alternate {
		VMOVDQU(unit, half)
	}
	Label("pixels")
	first, second := YMM(), YMM()
	if f.alternate {
		both := YMM()
		VMOVDQU(Mem{Base: src}, both.AsX())
		VINSERTI128(U8(1), Mem{Base: src, Disp: 32}, both, both)
		VMOVDQU(Mem{Base: src, Disp: 16}, second.AsX())
		VINSERTI128(U8(1), Mem{Base: src, Disp: 48}, second, second)
		VSHUFPS(U8(0x88), second, both, first)
		VSHUFPS(U8(0xdd), second, both, second)
	} else {
		VMOVDQU(Mem{Base: src}, first)
		VMOVDQU(Mem{Base: src, Disp: 32}, second)
	}
	for c := range 3 {
		x, y := YMM(), YMM()
		VPSHUFB(mask[c], first, x)
		VPSHUFB(mask[c], second, y)
		affine(x, scale[c], shift[c])
		affine(y, scale[c], shift[c])
		f.write(x, y, planes[c], half)
		ADDQ(U8(32), planes[c])
	}
	ADDQ(U8(64), src)
	DECQ(n)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

func storeHalfPlane(f halfFormat, unit, words Mem) {
	TEXT(f.plane, NOSPLIT, "func(dst *uint16, src *byte, n int, scale, shift *float32)")
	Doc(f.doc(f.plane + " writes n times 16 samples of one channel"))
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	scale, shift := YMM(), YMM()
	VBROADCASTSS(Mem{Base: Load(Param("scale"), GP64())}, scale)
	VBROADCASTSS(Mem{Base: Load(Param("shift"), GP64())}, shift)
	half, even := YMM(), YMM()
	if f.alternate {
		VMOVDQU(unit, half)
		VMOVDQU(words, even)
	}
	Label("samples")
	x, y := YMM(), YMM()
	if f.alternate {
		VPMOVZXBW(Mem{Base: src}, y)
		VPAND(even, y, x)
		VPSRLD(U8(16), y, y)
	} else {
		VPMOVZXBD(Mem{Base: src}, x)
		VPMOVZXBD(Mem{Base: src, Disp: 8}, y)
	}
	affine(x, scale, shift)
	affine(y, scale, shift)
	f.write(x, y, dst, half)
	ADDQ(U8(16), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}

// affine turns the integers in x into x·scale + shift.
func affine(x, scale, shift VecVirtual) {
	VCVTDQ2PS(x, x)
	VFMADD213PS(shift, scale, x)
}

func writeFloat16(x, y VecVirtual, to Register, _ VecVirtual) {
	const nearestEven = 0
	VCVTPS2PH(U8(nearestEven), x, Mem{Base: to})
	VCVTPS2PH(U8(nearestEven), y, Mem{Base: to, Disp: 16})
}

// writeBFloat16 stores the values of x and y alternately. Adding half a unit rounds
// ties up.
func writeBFloat16(x, y VecVirtual, to Register, half VecVirtual) {
	VPADDD(half, x, x)
	VPADDD(half, y, y)
	VPSRLD(U8(16), x, x)
	VPBLENDW(U8(0xaa), y, x, x)
	VMOVDQU(x, Mem{Base: to})
}
