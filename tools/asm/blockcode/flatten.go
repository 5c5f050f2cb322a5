package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// bytesOf repeats a byte in a vector of this size.
func bytesOf(name string, v byte, size int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range size {
		DATA(i, U8(v))
	}
	return m
}

// flatten64 unpacks 64 values at once.
func flatten64() {
	TEXT("flatten64", NOSPLIT, "func(flat *int8, values *byte, n int, escapes *byte, most int) int")
	Pragma("noescape")
	Doc("flatten64 unpacks n values, and takes an escape for each that is zero. It stops when it has",
		"taken more than most. It returns how many it took. It reads 31 bytes beyond the values and",
		"64 beyond the escapes, and writes 63 elements beyond the last. It needs AVX-512 VBMI2.")
	flat, values, n := Load(Param("flat"), GP64()), Load(Param("values"), GP64()), Load(Param("n"), GP64())
	escapes, most := Load(Param("escapes"), GP64()), Load(Param("most"), GP64())
	nibble, sign, none := ZMM(), ZMM(), ZMM()
	VMOVDQU64(bytesOf("nibble64", 0x0f, 64), nibble)
	VMOVDQU64(bytesOf("sign64", 8, 64), sign)
	VPXORQ(none, none, none)
	used := GP64()
	XORQ(used, used)

	Label("values")
	valid := GP64()
	MOVQ(I32(-1), valid)
	CMPQ(n, U8(64))
	JGE(LabelRef("full"))
	BZHIQ(n, valid, valid)
	Label("full")
	x, high, raw := ZMM(), ZMM(), ZMM()
	VPMOVZXBW(Mem{Base: values}, x)
	VPSLLW(U8(4), x, high)
	VPORQ(high, x, x)
	VPANDQ(nibble, x, x)
	isZero, zeros := K(), GP64()
	VPCMPEQB(none, x, isZero)
	KMOVQ(isZero, zeros)
	ANDQ(valid, zeros)
	KMOVQ(zeros, isZero)
	POPCNTQ(zeros, zeros)
	VPXORQ(sign, x, x)
	VPSUBB(sign, x, x)
	VMOVDQU8(Mem{Base: escapes, Index: used, Scale: 1}, raw)
	VPEXPANDB(raw, isZero, x)
	VMOVDQU8(x, Mem{Base: flat})
	ADDQ(zeros, used)
	ADDQ(U8(32), values)
	ADDQ(U8(64), flat)
	CMPQ(used, most)
	JG(LabelRef("done"))
	SUBQ(U8(64), n)
	JG(LabelRef("values"))
	Label("done")
	Store(used, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
