package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constants4 are what passes over four blocks compute with.
type constants4 struct {
	even2, even3           Mem // as in a pass
	odd3, odd4             Mem
	out0, out3, out1, out2 Mem
	round                  [2]Mem
	shift                  [2]uint64
	limit                  Mem
	writer
}

func newConstants4() *constants4 {
	return &constants4{
		even3:  pairs4("four_even3", fix0541+fix0765, fix0541),
		even2:  pairs4("four_even2", fix0541, fix0541-fix1847),
		odd3:   pairs4("four_odd3", fix1175-fix1961, fix1175),
		odd4:   pairs4("four_odd4", fix1175, fix1175-fix0390),
		out0:   pairs4("four_out0", fix0298-fix0899, -fix0899),
		out3:   pairs4("four_out3", -fix0899, fix1501-fix0899),
		out1:   pairs4("four_out1", fix2053-fix2562, -fix2562),
		out2:   pairs4("four_out2", -fix2562, fix3072-fix2562),
		round:  [2]Mem{dwords4("four_round0", 1<<10), dwords4("four_round1", 1<<17)},
		shift:  [2]uint64{11, 18},
		limit:  pairs4("four_limit", 8191, 8191),
		writer: newWriter(),
	}
}

// A pass4 is a pass over four blocks, with one block per lane. Everything stays in
// the 32 registers of AVX-512.
type pass4 struct {
	*constants4
	zero VecVirtual
}

func newPass4(c *constants4) *pass4 {
	p := &pass4{c, ZMM()}
	VPXORQ(p.zero, p.zero, p.zero)
	return p
}

func inverse4(c *constants4) {
	TEXT("inverse4", NOSPLIT, "func(dst *byte, stride int, blocks, quant *int16) bool")
	Doc("inverse4 is inverse2 for four blocks. It needs AVX-512 F, BW and VBMI.")
	p := newPass4(c)
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	rows := dequantised(Load(Param("blocks"), GP64()), Load(Param("quant"), GP64()))
	p.refuse(rows[0], "wild")
	p.samples(rows, dst, stride)
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

// refuse jumps to the label if a value is beyond ±8191. The absolute value of -32768
// is above the limit too, as an unsigned number.
func (p *pass4) refuse(row VecVirtual, label string) {
	size, above := ZMM(), K()
	VPABSW(row, size)
	VPCMPUW(U8(6), p.limit, size, above)
	KORTESTD(above, above)
	JNZ(LabelRef(label))
}

// dequantised loads four blocks, four rows of a block at a time, multiplies them,
// and sorts them by rows.
func dequantised(blocks, quant Register) [8]VecVirtual {
	var halves [2][4]VecVirtual
	for h := range halves {
		for b := range 4 {
			halves[h][b] = ZMM()
			VMOVDQU64(Mem{Base: blocks, Disp: 128*b + 64*h}, halves[h][b])
			VPMULLW(Mem{Base: quant, Disp: 64 * h}, halves[h][b], halves[h][b])
		}
	}
	return sorted(halves)
}

// samples runs both passes and writes the samples. It moves dst.
func (p *pass4) samples(rows [8]VecVirtual, dst, stride Register) {
	p.write(p.run(transposed(p.run(rows, 0), ZMM), 1), dst, stride)
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
