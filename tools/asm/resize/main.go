// Resize generates the AVX2 and AVX-512 kernels of internal/resize.
package main

import (
	"fmt"

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
	masks, half := [2]Mem{pairs(0), pairs(2)}, constant32("half", halfUnit)
	horizontal(true, masks, half)
	horizontal(false, masks, half)
	vertical(half)
	constants := newStoreConstants()
	store(constants)
	storePlane(constants)
	channels := [3]Mem{channelMask(0), channelMask(1), channelMask(2)}
	unit, words := constant32("halfUnit16", 1<<15), constant32("evenWords", 0xffff)
	for _, f := range []halfFormat{float16, bfloat16} {
		storeHalves(f, channels, unit)
		storeHalfPlane(f, unit, words)
	}
	interleaveBytes()
	separateBytes()
	lookup(2)
	lookup(4)
	for _, one := range []bool{true, false} {
		horizontalDigits(one)
		verticalDigits(one)
	}
	Generate()
}

// pairs is a shuffle that turns two pixels RGBX of each lane, from pixel p on, into words in the order of both reds, both
// greens, and so on.
func pairs(p int) Mem {
	mask := GLOBL(fmt.Sprint("pairs", p), RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U8(4*(p+i%2)+i/2%4))
		DATA(2*i+1, U8(0x80))
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

// horizontal takes two rows as the lanes of a vector, so that the sums of four pixels are packed into 16 bytes per row. One is for
// weights of one group.
func horizontal(one bool, masks [2]Mem, half Mem) {
	name, doc := "horizontal4", []string{"horizontal4 computes n times four pixels of four rows. Weights come in groups of four taps:",
		"four low parts, then four high parts."}
	if one {
		name, doc = "horizontal4x1", []string{"horizontal4x1 is horizontal4 for one group per pixel."}
	}
	TEXT(name, NOSPLIT, "func(dst, src *byte, dstStride, srcStride int, first *int32, n int, k *int16, groups int)")
	Doc(doc...)
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dstStride, srcStride := Load(Param("dstStride"), GP64()), Load(Param("srcStride"), GP64())
	first, n, k := Load(Param("first"), GP64()), Load(Param("n"), GP64()), Load(Param("k"), GP64())
	shuffles := [2]VecVirtual{YMM(), YMM()}
	for i, mask := range masks {
		VMOVDQU(mask, shuffles[i])
	}

	Label("pixels")
	var sums [4][2]VecVirtual // by pixel and pair of rows
	for p := range sums {
		rows := [2]Register{GP64(), GP64()}
		MOVLQSX(Mem{Base: first, Disp: 4 * p}, rows[0])
		LEAQ(Mem{Base: src, Index: rows[0], Scale: 4}, rows[0])
		LEAQ(Mem{Base: rows[0], Index: srcStride, Scale: 2}, rows[1])
		var low, high [2]VecVirtual
		left, taps := GP64(), fmt.Sprint("taps", p)
		if !one {
			for r := range 2 {
				low[r], high[r] = YMM(), YMM()
				VPXOR(low[r], low[r], low[r])
				VPXOR(high[r], high[r], high[r])
			}
			Load(Param("groups"), left)
			Label(taps)
		}
		var x [2][2]VecVirtual // by pair of taps and pair of rows
		for r, row := range rows {
			x[0][r], x[1][r] = YMM(), YMM()
			VBROADCASTI128(Mem{Base: row}, x[1][r]) // for its lower lane
			VINSERTI128(U8(1), Mem{Base: row, Index: srcStride, Scale: 1}, x[1][r], x[1][r])
			VPSHUFB(shuffles[0], x[1][r], x[0][r])
			VPSHUFB(shuffles[1], x[1][r], x[1][r])
		}
		for t := range 2 {
			for part, sum := range []*[2]VecVirtual{&low, &high} {
				weights := YMM()
				VPBROADCASTD(Mem{Base: k, Disp: 4*t + 8*part}, weights)
				for r := range 2 {
					if sum[r] == nil {
						sum[r] = YMM()
						VPMADDWD(weights, x[t][r], sum[r])
						continue
					}
					product := x[t][r] // which is not needed after its high parts
					if part == 0 {
						product = YMM()
					}
					VPMADDWD(weights, x[t][r], product)
					VPADDD(product, sum[r], sum[r])
				}
			}
		}
		ADDQ(U8(16), k)
		if !one {
			ADDQ(U8(16), rows[0])
			ADDQ(U8(16), rows[1])
			DECQ(left)
			JNZ(LabelRef(taps))
		}
		for r := range 2 {
			VPSLLD(U8(lowBits), high[r], high[r])
			VPADDD(high[r], low[r], low[r])
			VPADDD(half, low[r], low[r])
			VPSRAD(U8(bits), low[r], low[r])
			sums[p][r] = low[r]
			if p%2 == 1 {
				VPACKSSDW(low[r], sums[p-1][r], sums[p-1][r])
			}
		}
	}
	for r := range 2 {
		if r == 1 {
			LEAQ(Mem{Base: dst, Index: dstStride, Scale: 2}, dst)
		}
		VPACKUSWB(sums[2][r], sums[0][r], sums[0][r])
		VMOVDQU(sums[0][r].AsX(), Mem{Base: dst})
		VEXTRACTI128(U8(1), sums[0][r], Mem{Base: dst, Index: dstStride, Scale: 1})
	}
	NEGQ(dstStride)
	LEAQ(Mem{Base: dst, Index: dstStride, Scale: 2, Disp: 16}, dst)
	NEGQ(dstStride)
	ADDQ(U8(16), first)
	DECQ(n)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

func vertical(half Mem) {
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
	row, weights, left := GP64(), GP64(), GP64()
	MOVQ(src, row)
	MOVQ(k, weights)
	MOVQ(pairs, left)
	add := func(weights Op, x, sum VecVirtual, first bool) VecVirtual {
		product := YMM()
		VPMADDWD(weights, x, product)
		if first {
			return product
		}
		VPADDD(product, sum, sum)
		return sum
	}
	for _, first := range []bool{true, false} {
		if !first {
			Label("rows")
		}
		kLow, kHigh := YMM(), YMM()
		VPBROADCASTD(Mem{Base: weights}, kLow)
		VPBROADCASTD(Mem{Base: weights, Disp: 4}, kHigh)
		a, lower, upper := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: row}, a)
		VPUNPCKLBW(Mem{Base: row, Index: stride, Scale: 1}, a, lower)
		VPUNPCKHBW(Mem{Base: row, Index: stride, Scale: 1}, a, upper)
		for i, both := range []VecVirtual{lower, upper} {
			for h, unpack := range []func(ops ...Op){VPUNPCKLBW, VPUNPCKHBW} {
				s, x := 2*i+h, YMM()
				unpack(zero, both, x)
				sumLow[s], sumHigh[s] = add(kLow, x, sumLow[s], first), add(kHigh, x, sumHigh[s], first)
			}
		}
		ADDQ(U8(8), weights)
		LEAQ(Mem{Base: row, Index: stride, Scale: 2}, row)
		DECQ(left)
		if first {
			JZ(LabelRef("sum"))
		}
	}
	JNZ(LabelRef("rows"))

	Label("sum")
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
