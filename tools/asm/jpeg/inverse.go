package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Constants of the inverse DCT, scaled by 1<<13, as in the portable code.
const (
	fix0298 = 2446
	fix0390 = 3196
	fix0541 = 4433
	fix0765 = 6270
	fix0899 = 7373
	fix1175 = 9633
	fix1501 = 12299
	fix1847 = 15137
	fix1961 = 16069
	fix2053 = 16819
	fix2562 = 20995
	fix3072 = 25172
)

const vector = 32 // bytes

// A pass computes eight 1-D transforms for each of two blocks. rows[i] holds input i
// of all of them, with one block per lane.
type pass struct {
	even2, even3           Mem // weights of inputs 2 and 6
	odd3, odd4             Mem // of 7+3 and 5+1
	out0, out3, out1, out2 Mem // of 7 and 1, of 5 and 3
	round                  [2]Mem
	shift                  [2]uint64
	halves, evens, packed  Mem // on the stack
}

func newPass() *pass {
	return &pass{
		even3:  pairs("even3", fix0541+fix0765, fix0541),
		even2:  pairs("even2", fix0541, fix0541-fix1847),
		odd3:   pairs("odd3", fix1175-fix1961, fix1175),
		odd4:   pairs("odd4", fix1175, fix1175-fix0390),
		out0:   pairs("out0", fix0298-fix0899, -fix0899),
		out3:   pairs("out3", -fix0899, fix1501-fix0899),
		out1:   pairs("out1", fix2053-fix2562, -fix2562),
		out2:   pairs("out2", -fix2562, fix3072-fix2562),
		round:  [2]Mem{dwords("round0", 1<<10), dwords("round1", 1<<17)},
		shift:  [2]uint64{11, 18},
		halves: AllocLocal(8 * vector),
		evens:  AllocLocal(4 * vector),
		packed: AllocLocal(8 * vector),
	}
}

func inverse() {
	limit := words("limit", 8191)
	sign := dwords("sign", 0x80808080)
	TEXT("inverse2", NOSPLIT, "func(dst *byte, stride int, blocks, quant *int16) bool")
	Doc("inverse2 writes the samples of two neighbouring blocks. It reports false, and writes",
		"nothing, if a value in a block's first row is beyond ±8191, which no real image has.")
	p := newPass()
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	blocks, quant := Load(Param("blocks"), GP64()), Load(Param("quant"), GP64())

	var rows [8]VecVirtual
	for i := range rows {
		rows[i] = YMM()
		q := YMM()
		VMOVDQU(Mem{Base: blocks, Disp: 16 * i}, rows[i].AsX())
		VINSERTI128(U8(1), Mem{Base: blocks, Disp: 128 + 16*i}, rows[i], rows[i])
		VBROADCASTI128(Mem{Base: quant, Disp: 16 * i}, q)
		VPMULLW(q, rows[i], rows[i])
	}
	// A value above the limit gets a sign bit below. So does -32768, because its
	// absolute value is -32768 again.
	size, above, far := YMM(), YMM(), GP32()
	VPABSW(rows[0], size)
	VPCMPGTW(limit, size, above)
	VPOR(above, size, size)
	VPMOVMSKB(size, far)
	ANDL(U32(0xaaaaaaaa), far)
	JNZ(LabelRef("wild"))

	for i := range 2 {
		p.run(rows, i)
		for k := range rows {
			rows[k] = YMM()
			VMOVDQU(p.packed.Offset(vector*k), rows[k])
		}
		rows = transposed(rows, YMM)
	}
	flip := YMM()
	VMOVDQU(sign, flip)
	for i := 0; i < 8; i += 2 {
		both, second := YMM(), XMM()
		VPACKSSWB(rows[i+1], rows[i], both)
		VPXOR(flip, both, both)
		VPERMQ(U8(0xd8), both, both)
		VEXTRACTI128(U8(1), both, second)
		VMOVDQU(both.AsX(), Mem{Base: dst})
		VMOVDQU(second, Mem{Base: dst, Index: stride, Scale: 1})
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

// run leaves the pass's results, saturated at 16 bits, in p.packed.
func (p *pass) run(rows [8]VecVirtual, which int) {
	sum, difference, z3, z4 := YMM(), YMM(), YMM(), YMM()
	VPADDW(rows[4], rows[0], sum)
	VPSUBW(rows[4], rows[0], difference)
	VPADDW(rows[3], rows[7], z3)
	VPADDW(rows[1], rows[5], z4)
	for _, high := range []bool{true, false} {
		unpack := VPUNPCKLWD
		if high {
			unpack = VPUNPCKHWD
		}
		p.even(rows, sum, difference, unpack, which)

		odd3, odd4 := YMM(), YMM()
		unpack(z4, z3, odd4)
		VPMADDWD(p.odd3, odd4, odd3)
		VPMADDWD(p.odd4, odd4, odd4)

		a, b := YMM(), YMM()
		unpack(rows[1], rows[7], b)
		VPMADDWD(p.out3, b, a)
		VPMADDWD(p.out0, b, b)
		VPADDD(odd4, a, a)
		VPADDD(odd3, b, b)
		p.outputs(0, a, high, which)
		p.outputs(3, b, high, which)

		unpack(rows[3], rows[5], b)
		VPMADDWD(p.out2, b, a)
		VPMADDWD(p.out1, b, b)
		VPADDD(odd3, a, a)
		VPADDD(odd4, b, b)
		p.outputs(1, a, high, which)
		p.outputs(2, b, high, which)
	}
}

// even leaves the even parts 0 to 3, with the rounding, in p.evens.
func (p *pass) even(rows [8]VecVirtual, sum, difference VecVirtual, unpack func(ops ...Op), which int) {
	t2, t3, t := YMM(), YMM(), YMM()
	unpack(rows[6], rows[2], t2)
	VPMADDWD(p.even3, t2, t3)
	VPMADDWD(p.even2, t2, t2)
	e := YMM()
	for i, x := range []VecVirtual{sum, difference} {
		unpack(x, x, t)
		VPSRAD(U8(16), t, t)
		VPSLLD(U8(13), t, t)
		VPADDD(p.round[which], t, t)
		part := []VecVirtual{t3, t2}[i]
		VPADDD(part, t, e)
		VMOVDQU(e, p.evens.Offset(vector*i))
		VPSUBD(part, t, e)
		VMOVDQU(e, p.evens.Offset(vector*(3-i)))
	}
}

// outputs computes outputs i and 7-i, which are the even part plus and minus the odd
// one. Those of the upper halves are kept on the stack until the lower halves are
// done.
func (p *pass) outputs(i int, odd VecVirtual, high bool, which int) {
	plus, minus := YMM(), YMM()
	VMOVDQU(p.evens.Offset(vector*i), minus)
	VPADDD(odd, minus, plus)
	VPSUBD(odd, minus, minus)
	p.output(i, plus, high, which)
	p.output(7-i, minus, high, which)
}

func (p *pass) output(k int, v VecVirtual, high bool, which int) {
	VPSRAD(U8(p.shift[which]), v, v)
	if high {
		VMOVDQU(v, p.halves.Offset(vector*k))
		return
	}
	VPACKSSDW(p.halves.Offset(vector*k), v, v)
	VMOVDQU(v, p.packed.Offset(vector*k))
}

// transposed transposes the 8×8 words of each lane.
func transposed(r [8]VecVirtual, vector func() VecVirtual) [8]VecVirtual {
	var a, b, c [8]VecVirtual
	for i := range 4 {
		a[2*i], a[2*i+1] = vector(), vector()
		VPUNPCKLWD(r[2*i+1], r[2*i], a[2*i])
		VPUNPCKHWD(r[2*i+1], r[2*i], a[2*i+1])
	}
	for i := range 2 {
		for h := range 2 {
			lower, upper := a[4*i+h], a[4*i+2+h]
			b[4*i+2*h], b[4*i+2*h+1] = vector(), vector()
			VPUNPCKLDQ(upper, lower, b[4*i+2*h])
			VPUNPCKHDQ(upper, lower, b[4*i+2*h+1])
		}
	}
	for i := range 4 {
		c[2*i], c[2*i+1] = vector(), vector()
		VPUNPCKLQDQ(b[4+i], b[i], c[2*i])
		VPUNPCKHQDQ(b[4+i], b[i], c[2*i+1])
	}
	return c
}
