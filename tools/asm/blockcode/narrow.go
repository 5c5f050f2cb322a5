package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of kernelTables in internal/codec/blockcode.
const (
	tableShuffles = 64  // eight of 32 bytes
	tableSpread   = 320 // 256 of 8 bytes
)

// flatten32 is flatten64 for AVX2. It moves eight escapes at a time to their places.
func flatten32() {
	TEXT("flatten32", NOSPLIT, "func(flat *int8, values *byte, n int, escapes *byte, most int, tables *uint8) int")
	Pragma("noescape")
	Doc("flatten32 is flatten64 with AVX2 and BMI2.")
	flat, values, n := Load(Param("flat"), GP64()), Load(Param("values"), GP64()), Load(Param("n"), GP64())
	escapes, most := Load(Param("escapes"), GP64()), Load(Param("most"), GP64())
	tables := Load(Param("tables"), GP64())
	nibble, sign, none := YMM(), YMM(), YMM()
	VMOVDQU(bytesOf("nibble32", 0x0f, 32), nibble)
	VMOVDQU(bytesOf("sign32", 8, 32), sign)
	VPXOR(none, none, none)
	used := GP64()
	XORQ(used, used)

	Label("values")
	x, high, isZero, zeros := YMM(), YMM(), YMM(), GP64()
	VPMOVZXBW(Mem{Base: values}, x)
	VPSLLW(U8(4), x, high)
	VPOR(high, x, x)
	VPAND(nibble, x, x)
	VPCMPEQB(none, x, isZero)
	VPMOVMSKB(isZero, zeros.As32())
	VPXOR(sign, x, x)
	VPSUBB(sign, x, x)
	CMPQ(n, U8(32))
	JGE(LabelRef("full"))
	BZHIL(n.(GPVirtual).As32(), zeros.As32(), zeros.As32())
	Label("full")
	var parts [4]VecVirtual
	for i := range parts {
		parts[i] = XMM()
		eight := GP64()
		MOVBLZX(zeros.As8(), eight.As32())
		VMOVQ(Mem{Base: escapes, Index: used, Scale: 1}, parts[i])
		VPSHUFB(Mem{Base: tables, Index: eight, Scale: 8, Disp: tableSpread}, parts[i], parts[i])
		POPCNTL(eight.As32(), eight.As32())
		ADDQ(eight, used)
		if i < 3 {
			SHRL(U8(8), zeros.As32())
		}
	}
	VPUNPCKLQDQ(parts[1], parts[0], parts[0])
	VPUNPCKLQDQ(parts[3], parts[2], parts[2])
	VINSERTI128(U8(1), parts[2], parts[0].AsY(), parts[0].AsY())
	VPOR(parts[0].AsY(), x, x)
	VMOVDQU(x, Mem{Base: flat})
	ADDQ(U8(16), values)
	ADDQ(U8(32), flat)
	CMPQ(used, most)
	JG(LabelRef("done"))
	SUBQ(U8(32), n)
	JG(LabelRef("values"))
	Label("done")
	Store(used, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// expand32 moves eight values at a time to their places, and collects every two rows of
// the block from the four quarters of the zigzag order.
func expand32() {
	expand("expand32", "AVX2 and BMI2", func(e *expander, tables GPVirtual) {
		e.fill = func(mask GPVirtual) {
			var upper, lower VecVirtual // rows 0 to 3, and 4 to 7
			for i := range 4 {
				var halves [2]VecVirtual
				for j := range halves {
					halves[j] = XMM()
					eight := GP64()
					MOVBLZX(mask.As8(), eight.As32())
					VMOVQ(Mem{Base: e.flat}, halves[j])
					VPSHUFB(Mem{Base: tables, Index: eight, Scale: 8, Disp: tableSpread}, halves[j], halves[j])
					POPCNTL(eight.As32(), eight.As32())
					ADDQ(eight, e.flat)
					SHRQ(U8(8), mask)
				}
				VPUNPCKLQDQ(halves[1], halves[0], halves[0])
				quarter := halves[0].AsY()
				VINSERTI128(U8(1), halves[0], quarter, quarter)
				for j, sum := range []*VecVirtual{&upper, &lower} {
					rows := YMM()
					VPSHUFB(Mem{Base: tables, Disp: tableShuffles + 32*(2*i+j)}, quarter, rows)
					if i == 0 {
						*sum = rows
					} else {
						VPOR(rows, *sum, *sum)
					}
				}
			}
			for j, rows := range []VecVirtual{upper, lower} {
				two, other := YMM(), XMM()
				VPMOVSXBW(rows.AsX(), two)
				VEXTRACTI128(U8(1), rows, other)
				VMOVDQU(two, Mem{Base: e.blocks, Disp: 64 * j})
				VPMOVSXBW(other, two)
				VMOVDQU(two, Mem{Base: e.blocks, Disp: 64*j + 32})
			}
		}
	})
}
