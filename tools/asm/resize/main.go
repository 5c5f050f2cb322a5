// Resize generates the AVX2 and AVX-512 kernels of internal/resize.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// bits is the number of fraction bits of a weight. For 16-bit multiplication a
// weight is split into high·2¹⁵ + low.
const (
	bits     = 22
	lowBits  = 15
	halfUnit = 1 << (bits - 1)
)

func main() {
	ConstraintExpr("amd64,!purego")
	horizontal()
	vertical()
	constants := newStoreConstants()
	store(constants)
	storePlane(constants)
	masks := [3]Mem{channelMask(0), channelMask(1), channelMask(2)}
	unit, words := constant32("halfUnit16", 1<<15), constant32("evenWords", 0xffff)
	for _, f := range []halfFormat{float16, bfloat16} {
		storeHalves(f, masks, unit)
		storeHalfPlane(f, unit, words)
	}
	lookup(2)
	lookup(4)
	for _, one := range []bool{true, false} {
		horizontalDigits(one)
		verticalDigits(one)
	}
	Generate()
}

// pairs is a shuffle that turns two pixels RGBX per lane into words in the order of
// both reds, both greens, and so on.
func pairs() Mem {
	mask := GLOBL("pairs", RODATA|NOPTR)
	for lane := range 2 {
		for c := range 4 {
			for p := range 2 {
				at := 16*lane + 4*c + 2*p
				DATA(at, U8(8*lane+4*p+c))
				DATA(at+1, U8(0x80))
			}
		}
	}
	return mask
}

// constant32 repeats 32 bits eight times.
func constant32(name string, v uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(v))
	}
	return m
}

// indices is a permutation of dwords.
func indices(name string, v [8]uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range v {
		DATA(4*i, U32(x))
	}
	return m
}

func horizontal() {
	mask, half := pairs(), constant32("half", halfUnit)
	lowIndex := indices("lowIndex", [8]uint32{0, 0, 0, 0, 1, 1, 1, 1})
	highIndex := indices("highIndex", [8]uint32{2, 2, 2, 2, 3, 3, 3, 3})

	TEXT("horizontal4", NOSPLIT, "func(dst, src *byte, dstStride, srcStride int, first *int32, n int, k *int16, groups int)")
	Doc("horizontal4 computes n pixels of four rows. Weights come in groups of four taps:",
		"four low parts, then four high parts.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dstStride, srcStride := Load(Param("dstStride"), GP64()), Load(Param("srcStride"), GP64())
	first, n := Load(Param("first"), GP64()), Load(Param("n"), GP64())
	k, groups := Load(Param("k"), GP64()), Load(Param("groups"), GP64())

	shuffle, low, high := YMM(), YMM(), YMM()
	VMOVDQU(mask, shuffle)
	VMOVDQU(lowIndex, low)
	VMOVDQU(highIndex, high)
	src2 := GP64()
	LEAQ(Mem{Base: src, Index: srcStride, Scale: 2}, src2)
	dst2 := GP64()
	LEAQ(Mem{Base: dst, Index: dstStride, Scale: 2}, dst2)

	Label("pixel")
	at := GP64()
	MOVLQSX(Mem{Base: first}, at)
	SHLQ(U8(2), at)
	p0, p2 := GP64(), GP64()
	LEAQ(Mem{Base: src, Index: at, Scale: 1}, p0)
	LEAQ(Mem{Base: src2, Index: at, Scale: 1}, p2)
	var sumLow, sumHigh [4]VecVirtual
	for r := range 4 {
		sumLow[r], sumHigh[r] = YMM(), YMM()
		VPXOR(sumLow[r], sumLow[r], sumLow[r])
		VPXOR(sumHigh[r], sumHigh[r], sumHigh[r])
	}
	left := GP64()
	MOVQ(groups, left)

	Label("taps")
	weights := YMM()
	VMOVDQU(Mem{Base: k}, weights.AsX())
	kLow, kHigh := YMM(), YMM()
	VPERMD(weights, low, kLow)
	VPERMD(weights, high, kHigh)
	for r, row := range []Mem{{Base: p0}, {Base: p0, Index: srcStride, Scale: 1}, {Base: p2}, {Base: p2, Index: srcStride, Scale: 1}} {
		pixels, product := YMM(), YMM()
		VBROADCASTI128(row, pixels)
		VPSHUFB(shuffle, pixels, pixels)
		VPMADDWD(kLow, pixels, product)
		VPADDD(product, sumLow[r], sumLow[r])
		VPMADDWD(kHigh, pixels, pixels)
		VPADDD(pixels, sumHigh[r], sumHigh[r])
	}
	ADDQ(U8(16), k)
	ADDQ(U8(16), p0)
	ADDQ(U8(16), p2)
	DECQ(left)
	JNZ(LabelRef("taps"))

	for r := range 4 {
		VPSLLD(U8(lowBits), sumHigh[r], sumHigh[r])
		VPADDD(sumHigh[r], sumLow[r], sumLow[r])
	}
	// Both lanes of a row hold a part of its sum: add them for two rows at once.
	for r := 0; r < 4; r += 2 {
		lower, upper := YMM(), YMM()
		VPERM2I128(U8(0x20), sumLow[r+1], sumLow[r], lower)
		VPERM2I128(U8(0x31), sumLow[r+1], sumLow[r], upper)
		VPADDD(lower, upper, sumLow[r])
		VPADDD(half, sumLow[r], sumLow[r])
		VPSRAD(U8(bits), sumLow[r], sumLow[r])
	}
	packed := YMM() // lanes: rows 0 and 2, rows 1 and 3
	VPACKSSDW(sumLow[2], sumLow[0], packed)
	VPACKUSWB(packed, packed, packed)
	odd := XMM()
	VEXTRACTI128(U8(1), packed, odd)
	VMOVD(packed.AsX(), Mem{Base: dst})
	VPEXTRD(U8(1), packed.AsX(), Mem{Base: dst2})
	VMOVD(odd, Mem{Base: dst, Index: dstStride, Scale: 1})
	VPEXTRD(U8(1), odd, Mem{Base: dst2, Index: dstStride, Scale: 1})
	ADDQ(U8(4), dst)
	ADDQ(U8(4), dst2)
	ADDQ(U8(4), first)
	DECQ(n)
	JNZ(LabelRef("pixel"))
	VZEROUPPER()
	RET()
}

func vertical() {
	half := constant32("halfV", halfUnit)
	TEXT("vertical8", NOSPLIT, "func(dst, src *byte, stride int, n int, k *int16, pairs int)")
	Doc("vertical8 computes n times eight pixels of a row. Weights come in pairs of taps:",
		"two low parts, then two high parts.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	stride, n := Load(Param("stride"), GP64()), Load(Param("n"), GP64())
	k, pairs := Load(Param("k"), GP64()), Load(Param("pairs"), GP64())
	zero := YMM()
	VPXOR(zero, zero, zero)

	Label("block")
	var sumLow, sumHigh [4]VecVirtual // two pixels each, in the order that unpacking gives
	for i := range 4 {
		sumLow[i], sumHigh[i] = YMM(), YMM()
		VPXOR(sumLow[i], sumLow[i], sumLow[i])
		VPXOR(sumHigh[i], sumHigh[i], sumHigh[i])
	}
	row, weights, left := GP64(), GP64(), GP64()
	MOVQ(src, row)
	MOVQ(k, weights)
	MOVQ(pairs, left)

	Label("rows")
	kLow, kHigh := YMM(), YMM()
	VPBROADCASTD(Mem{Base: weights}, kLow)
	VPBROADCASTD(Mem{Base: weights, Disp: 4}, kHigh)
	a, b := YMM(), YMM()
	VMOVDQU(Mem{Base: row}, a)
	lower, upper := YMM(), YMM()
	VPUNPCKLBW(Mem{Base: row, Index: stride, Scale: 1}, a, lower)
	VPUNPCKHBW(Mem{Base: row, Index: stride, Scale: 1}, a, upper)
	for i, both := range []VecVirtual{lower, upper} {
		for h := range 2 {
			if h == 0 {
				VPUNPCKLBW(zero, both, b)
			} else {
				VPUNPCKHBW(zero, both, b)
			}
			s := 2*i + h
			VPMADDWD(kLow, b, a)
			VPADDD(a, sumLow[s], sumLow[s])
			VPMADDWD(kHigh, b, b)
			VPADDD(b, sumHigh[s], sumHigh[s])
		}
	}
	ADDQ(U8(8), weights)
	LEAQ(Mem{Base: row, Index: stride, Scale: 2}, row)
	DECQ(left)
	JNZ(LabelRef("rows"))

	for i := range 4 {
		VPSLLD(U8(lowBits), sumHigh[i], sumHigh[i])
		VPADDD(sumHigh[i], sumLow[i], sumLow[i])
		VPADDD(half, sumLow[i], sumLow[i])
		VPSRAD(U8(bits), sumLow[i], sumLow[i])
	}
	VPACKSSDW(sumLow[1], sumLow[0], sumLow[0])
	VPACKSSDW(sumLow[3], sumLow[2], sumLow[2])
	VPACKUSWB(sumLow[2], sumLow[0], sumLow[0])
	VMOVDQU(sumLow[0], Mem{Base: dst})
	ADDQ(U8(32), dst)
	ADDQ(U8(32), src)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
