package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// unstuff removes the zeros after bytes of 0xff, 64 bytes at a time.
func unstuff() {
	full := dwords4("stuffed", 0xffffffff)
	TEXT("unstuff64", NOSPLIT, "func(dst, src *byte, n int) (read, written int)")
	Doc("unstuff64 copies bytes without the zeros after bytes of 0xff, of n times 64 bytes and one",
		"more. It ends before 64 bytes that contain a 0xff with another byte than 0 after it. Dst has",
		"room for all bytes. It needs AVX-512 F, BW and VBMI2.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	firstDst, firstSrc := GP64(), GP64()
	MOVQ(dst, firstDst)
	MOVQ(src, firstSrc)
	ff := ZMM()
	VMOVDQU64(full, ff)
	before := GP64() // 1 if the byte before was 0xff
	XORL(before.As32(), before.As32())
	Label("bytes")
	x, after := ZMM(), ZMM()
	is, other := K(), K()
	VMOVDQU64(Mem{Base: src}, x)
	VMOVDQU64(Mem{Base: src, Disp: 1}, after)
	VPCMPEQB(ff, x, is)
	VPTESTMB(after, after, is, other)
	KORTESTQ(other, other)
	JNZ(LabelRef("marker"))
	stuffed, last := GP64(), GP64()
	KMOVQ(is, stuffed)
	MOVQ(stuffed, last)
	SHRQ(U8(63), last)
	LEAQ(Mem{Base: before, Index: stuffed, Scale: 2}, stuffed)
	MOVQ(last, before)
	NOTQ(stuffed)
	keep := K()
	KMOVQ(stuffed, keep)
	VPCOMPRESSB_Z(x, keep, x)
	VMOVDQU64(x, Mem{Base: dst})
	POPCNTQ(stuffed, stuffed)
	ADDQ(stuffed, dst)
	ADDQ(U8(64), src)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("marker")
	ADDQ(before, src) // its zero
	SUBQ(firstDst, dst)
	SUBQ(firstSrc, src)
	Store(src, ReturnIndex(0))
	Store(dst, ReturnIndex(1))
	VZEROUPPER()
	RET()
}
