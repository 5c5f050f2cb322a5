package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels with AVX-512 VNNI multiply four bytes at once. For them a weight is three
// signed digits, low + 2⁸·middle + 2¹⁶·high. The sums of products with low digits are
// shifted by 8 bits and added to those with middle digits, and so on. That loses only
// bits below the result, because all shifts round down.
const digits = 3

// shifts follow the products with each digit.
var shifts = [digits]uint64{8, 8, bits - 16}

// A summer adds up products of bytes: four taps per dword.
type summer struct {
	half VecVirtual
	sums [][digits]VecVirtual // by vector; only the first digit's if all taps fit into one group
	one  bool
}

func newSummer(vectors int, one bool) *summer {
	s := &summer{half: ZMM(), sums: make([][digits]VecVirtual, vectors), one: one}
	VMOVDQU64(constant512("half512", halfUnit), s.half)
	for i := range s.sums {
		for d := range digits {
			s.sums[i][d] = ZMM()
		}
	}
	return s
}

// begin clears the sums.
func (s *summer) begin() {
	for _, sum := range s.sums {
		VMOVDQA64(s.half, sum[0])
		for _, later := range sum[1:] {
			if !s.one {
				VPXORQ(later, later, later)
			}
		}
	}
}

// add multiplies a group of four taps with the weights' digits.
func (s *summer) add(i int, taps VecVirtual, weights [digits]VecVirtual) {
	for d, w := range weights {
		if s.one {
			VPDPBUSD(w, taps, s.sums[i][0])
			VPSRAD(U8(shifts[d]), s.sums[i][0], s.sums[i][0])
			continue
		}
		VPDPBUSD(w, taps, s.sums[i][d])
	}
}

// end returns the rounded results.
func (s *summer) end() (results []VecVirtual) {
	for _, sum := range s.sums {
		if s.one {
			results = append(results, sum[0])
			continue
		}
		for d := range digits {
			VPSRAD(U8(shifts[d]), sum[d], sum[d])
			if d+1 < digits {
				VPADDD(sum[d], sum[d+1], sum[d+1])
			}
		}
		results = append(results, sum[digits-1])
	}
	return results
}

// packed saturates four vectors of dwords at a byte. Every lane of 16 bytes has the
// four lanes' results in turn.
func packed(v []VecVirtual) VecVirtual {
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	return v[0]
}

// constant512 repeats 32 bits sixteen times.
func constant512(name string, v uint32) Mem {
	return table512(name, func(int) uint32 { return v })
}

// constants of the same name are the same.
var constants512 = map[string]Mem{}

func table512(name string, v func(i int) uint32) Mem {
	if m, ok := constants512[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(v(i)))
	}
	constants512[name] = m
	return m
}

// horizontalDigits makes the kernel for one group of four taps per pixel, or for any
// number of them.
func horizontalDigits(one bool) {
	name, what := "horizontalDigits", "one or more groups of four taps"
	if one {
		name, what = "horizontalDigits1", "one group of four taps"
	}
	TEXT(name, NOSPLIT, "func(dst, src *byte, dstStride, srcStride int, at *int32, quads int, weights *byte, groups int)")
	Doc(name+" computes quads times four pixels of four rows, with "+what+" per pixel.",
		"The taps of a quad's first group are among the 16 pixels from byte at of the row on, and",
		"each further group begins four pixels later. For every group there are the digits of 16",
		"weights, from the lowest on, and for every pixel four times the first tap's byte. It needs",
		"AVX-512 F, BW, VBMI and VNNI.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dstStride, srcStride := Load(Param("dstStride"), GP64()), Load(Param("srcStride"), GP64())
	at, quads := Load(Param("at"), GP64()), Load(Param("quads"), GP64())
	weights := Load(Param("weights"), GP64())
	src2, dst2 := GP64(), GP64()
	LEAQ(Mem{Base: src, Index: srcStride, Scale: 2}, src2)
	LEAQ(Mem{Base: dst, Index: dstStride, Scale: 2}, dst2)

	var spread [digits + 1]VecVirtual // a dword per pixel to the pixel's lane
	for i := range spread {
		spread[i] = ZMM()
		VMOVDQU64(table512([]string{"spread0", "spread1", "spread2", "spread3"}[i], func(lane int) uint32 { return uint32(4*i + lane/4) }), spread[i])
	}
	taps, byRows := ZMM(), ZMM()
	VMOVDQU64(table512("taps", func(i int) uint32 { return 0x0c080400 + uint32(i%4)*0x01010101 }), taps)
	VMOVDQU64(table512("byRows", func(i int) uint32 { return uint32(i%4*4 + i/4) }), byRows)
	s := newSummer(4, one)

	Label("quad")
	p0, p2 := GP64(), GP64()
	MOVLQSX(Mem{Base: at}, p2)
	LEAQ(Mem{Base: src, Index: p2, Scale: 1}, p0)
	ADDQ(src2, p2)
	s.begin()
	var left GPVirtual
	if !one {
		left = GP64()
		Load(Param("groups"), left)
		Label("group")
	}
	all := ZMM()
	VMOVDQU64(Mem{Base: weights}, all)
	var k [digits]VecVirtual
	for d := range k {
		k[d] = ZMM()
		VPERMD(all, spread[d], k[d])
	}
	where := ZMM()
	VPERMD(all, spread[digits], where)
	VPADDB(taps, where, where)
	for r, row := range []Mem{{Base: p0}, {Base: p0, Index: srcStride, Scale: 1}, {Base: p2}, {Base: p2, Index: srcStride, Scale: 1}} {
		pixels := ZMM()
		VPERMB(row, where, pixels)
		s.add(r, pixels, k)
	}
	ADDQ(U8(64), weights)
	if !one {
		ADDQ(U8(16), p0)
		ADDQ(U8(16), p2)
		DECQ(left)
		JNZ(LabelRef("group"))
	}
	rows := packed(s.end())
	VPERMD(rows, byRows, rows)
	VMOVDQU(rows.AsX(), Mem{Base: dst})
	VEXTRACTI32X4(U8(1), rows, Mem{Base: dst, Index: dstStride, Scale: 1})
	VEXTRACTI32X4(U8(2), rows, Mem{Base: dst2})
	VEXTRACTI32X4(U8(3), rows, Mem{Base: dst2, Index: dstStride, Scale: 1})
	ADDQ(U8(16), dst)
	ADDQ(U8(16), dst2)
	ADDQ(U8(4), at)
	DECQ(quads)
	JNZ(LabelRef("quad"))
	VZEROUPPER()
	RET()
}

// verticalDigits makes the kernel for one group of four rows, or for any number.
func verticalDigits(one bool) {
	name, what := "verticalDigits", "one or more groups of four rows"
	if one {
		name, what = "verticalDigits1", "one group of four rows"
	}
	TEXT(name, NOSPLIT, "func(dst, src *byte, stride int, n int, weights *byte, groups int)")
	Doc(name+" computes n times 16 pixels of a row from "+what+". A group's weights",
		"are 16 bytes: their digits, from the lowest on, and four that are ignored. It needs",
		"AVX-512 F, BW and VNNI.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	stride, n := Load(Param("stride"), GP64()), Load(Param("n"), GP64())
	first := Load(Param("weights"), GP64())
	three := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	s := newSummer(4, one)
	var k [digits]VecVirtual
	load := func(weights Register) {
		for d := range k {
			VPBROADCASTD(Mem{Base: weights, Disp: 4 * d}, k[d])
		}
	}
	for d := range k {
		k[d] = ZMM()
	}
	if one {
		load(first)
	}

	Label("block")
	row := src
	var weights, left GPVirtual
	s.begin()
	if !one {
		weights, left = GP64(), GP64()
		r := GP64()
		MOVQ(src, r)
		row = r
		MOVQ(first, weights)
		Load(Param("groups"), left)
		Label("group")
		load(weights)
	}
	a, c := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: row}, a)
	VMOVDQU64(Mem{Base: row, Index: stride, Scale: 2}, c)
	second, fourth := Mem{Base: row, Index: stride, Scale: 1}, Mem{Base: row, Index: three, Scale: 1}
	for h, unpack := range []func(ops ...Op){VPUNPCKLBW, VPUNPCKHBW} {
		upper, lower, taps := ZMM(), ZMM(), ZMM()
		unpack(second, a, upper)
		unpack(fourth, c, lower)
		VPUNPCKLWD(lower, upper, taps)
		s.add(2*h, taps, k)
		VPUNPCKHWD(lower, upper, upper)
		s.add(2*h+1, upper, k)
	}
	if !one {
		ADDQ(U8(16), weights)
		LEAQ(Mem{Base: row, Index: stride, Scale: 4}, row)
		DECQ(left)
		JNZ(LabelRef("group"))
	}
	VMOVDQU64(packed(s.end()), Mem{Base: dst})
	ADDQ(U8(64), dst)
	ADDQ(U8(64), src)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
