package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A pass4 is a pass over four blocks, with one block per lane. Everything stays in
// the 32 registers of AVX-512.
type pass4 struct {
	even2, even3           Mem // as in a pass
	odd3, odd4             Mem
	out0, out3, out1, out2 Mem
	round                  [2]Mem
	shift                  [2]uint64
	zero                   VecVirtual
}

func newPass4() *pass4 {
	p := &pass4{
		even3: pairs4("four_even3", fix0541+fix0765, fix0541),
		even2: pairs4("four_even2", fix0541, fix0541-fix1847),
		odd3:  pairs4("four_odd3", fix1175-fix1961, fix1175),
		odd4:  pairs4("four_odd4", fix1175, fix1175-fix0390),
		out0:  pairs4("four_out0", fix0298-fix0899, -fix0899),
		out3:  pairs4("four_out3", -fix0899, fix1501-fix0899),
		out1:  pairs4("four_out1", fix2053-fix2562, -fix2562),
		out2:  pairs4("four_out2", -fix2562, fix3072-fix2562),
		round: [2]Mem{dwords4("four_round0", 1<<10), dwords4("four_round1", 1<<17)},
		shift: [2]uint64{11, 18},
		zero:  ZMM(),
	}
	VPXORQ(p.zero, p.zero, p.zero)
	return p
}

func inverse4() {
	limit := pairs4("four_limit", 8191, 8191)
	sign := dwords4("four_sign", 0x80808080)
	order := GLOBL("four_order", RODATA|NOPTR) // even rows' quadwords, then odd ones'
	for i := range 8 {
		DATA(8*i, U64(2*i%8+i/4))
	}
	TEXT("inverse4", NOSPLIT, "func(dst *byte, stride int, blocks, quant *int16) bool")
	Doc("inverse4 is inverse2 for four blocks. It needs AVX-512 F and BW.")
	p := newPass4()
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	rows := dequantised(Load(Param("blocks"), GP64()), Load(Param("quant"), GP64()))

	// The absolute value of -32768 is above the limit too, as an unsigned number.
	size, above := ZMM(), K()
	VPABSW(rows[0], size)
	VPCMPUW(U8(6), limit, size, above)
	KORTESTD(above, above)
	JNZ(LabelRef("wild"))

	for i := range 2 {
		rows = transposed(p.run(rows, i), ZMM)
	}
	flip, quads := ZMM(), ZMM()
	VMOVDQU64(sign, flip)
	VMOVDQU64(order, quads)
	for i := 0; i < 8; i += 2 {
		both := ZMM()
		VPACKSSWB(rows[i+1], rows[i], both)
		VPXORQ(flip, both, both)
		VPERMQ(both, quads, both)
		VMOVDQU(both.AsY(), Mem{Base: dst})
		VEXTRACTI64X4(U8(1), both, Mem{Base: dst, Index: stride, Scale: 1})
		LEAQ(Mem{Base: dst, Index: stride, Scale: 2}, dst)
	}
	ok := GP8()
	MOVB(U8(1), ok)
	Store(ok, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("wild")
	bad := GP8()
	XORB(bad, bad)
	Store(bad, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// dequantised loads four blocks, four rows of a block at a time, multiplies them,
// and sorts them by rows.
func dequantised(blocks, quant Register) (rows [8]VecVirtual) {
	for h := range 2 {
		var z, t [4]VecVirtual
		for b := range 4 {
			z[b], t[b], rows[4*h+b] = ZMM(), ZMM(), ZMM()
			VMOVDQU64(Mem{Base: blocks, Disp: 128*b + 64*h}, z[b])
			VPMULLW(Mem{Base: quant, Disp: 64 * h}, z[b], z[b])
		}
		for i := 0; i < 4; i += 2 {
			VSHUFI64X2(U8(0x44), z[i+1], z[i], t[i])
			VSHUFI64X2(U8(0xee), z[i+1], z[i], t[i+1])
		}
		for i := range 2 {
			VSHUFI64X2(U8(0x88), t[2+i], t[i], rows[4*h+2*i])
			VSHUFI64X2(U8(0xdd), t[2+i], t[i], rows[4*h+2*i+1])
		}
	}
	return rows
}

// run returns the pass's results, saturated at 16 bits.
func (p *pass4) run(rows [8]VecVirtual, which int) (out [8]VecVirtual) {
	sum, difference, z3, z4 := ZMM(), ZMM(), ZMM(), ZMM()
	VPADDW(rows[4], rows[0], sum)
	VPSUBW(rows[4], rows[0], difference)
	VPADDW(rows[3], rows[7], z3)
	VPADDW(rows[1], rows[5], z4)
	for _, high := range []bool{true, false} {
		unpack := VPUNPCKLWD
		if high {
			unpack = VPUNPCKHWD
		}
		// finish makes outputs i and 7-i of the even part and the odd one.
		even := p.even(rows, sum, difference, unpack, which)
		finish := func(i int, odd VecVirtual) {
			plus, minus := ZMM(), even[i]
			VPADDD(odd, even[i], plus)
			VPSUBD(odd, even[i], minus)
			for j, v := range []VecVirtual{plus, minus} {
				k := i + j*(7-2*i)
				VPSRAD(U8(p.shift[which]), v, v)
				if high {
					out[k] = v
				} else {
					VPACKSSDW(out[k], v, out[k])
				}
			}
		}

		odd3, odd4 := ZMM(), ZMM()
		unpack(z4, z3, odd4)
		VPMADDWD(p.odd3, odd4, odd3)
		VPMADDWD(p.odd4, odd4, odd4)

		a, b := ZMM(), ZMM()
		unpack(rows[1], rows[7], b)
		VPMADDWD(p.out3, b, a)
		VPMADDWD(p.out0, b, b)
		VPADDD(odd4, a, a)
		VPADDD(odd3, b, b)
		finish(0, a)
		finish(3, b)

		a, b = ZMM(), ZMM()
		unpack(rows[3], rows[5], b)
		VPMADDWD(p.out2, b, a)
		VPMADDWD(p.out1, b, b)
		VPADDD(odd3, a, a)
		VPADDD(odd4, b, b)
		finish(1, a)
		finish(2, b)
	}
	return out
}

// even returns the even parts 0 to 3, with the rounding.
func (p *pass4) even(rows [8]VecVirtual, sum, difference VecVirtual, unpack func(ops ...Op), which int) (even [4]VecVirtual) {
	t2, t3 := ZMM(), ZMM()
	unpack(rows[6], rows[2], t2)
	VPMADDWD(p.even3, t2, t3)
	VPMADDWD(p.even2, t2, t2)
	for i, x := range []VecVirtual{sum, difference} {
		t := ZMM()
		unpack(x, p.zero, t) // x<<16
		VPSRAD(U8(3), t, t)
		VPADDD(p.round[which], t, t)
		part := []VecVirtual{t3, t2}[i]
		even[i], even[3-i] = ZMM(), ZMM()
		VPADDD(part, t, even[i])
		VPSUBD(part, t, even[3-i])
	}
	return even
}
