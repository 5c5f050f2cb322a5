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

// inverseStretch computes the samples of blocks as decodePairs leaves them, without a
// row of blocks in between.
func inverseStretch(c *constants4) {
	var order [2]Mem
	place := zigzag()
	for h := range order {
		order[h] = GLOBL([]string{"stretch_upper", "stretch_lower"}[h], RODATA|NOPTR)
		for i, k := range place[32*h : 32*h+32] {
			DATA(2*i, U16(uint16(k)))
		}
	}
	dc := GLOBL("stretch_dc", RODATA|NOPTR) // the DC coefficients of four lanes
	for i := range 32 {
		v := uint16(0)
		if i%8 == 0 {
			v = 0xffff
		}
		DATA(2*i, U16(v))
	}
	four := pairs4("stretch_four", 4, 4)
	first := GLOBL("stretch_first", RODATA|NOPTR) // the first quadword of each lane
	for i := range 8 {
		DATA(8*i, U64(2*i%8))
	}

	TEXT("inverseStretch4", NOSPLIT, "func(dst *byte, stride int, blocks *int16, second, third, step int, quant *int16, n int) (left int)")
	Pragma("noescape")
	Doc("inverseStretch4 writes the samples of n times four neighbouring blocks in zigzag order, and",
		"clears them. The second, the third and the next first block are so many bytes after the",
		"first one, and the fourth second+third. Quant is in zigzag order. It ends before blocks with",
		"a value beyond ±8191 in their first row, and returns how many times four are left. It needs",
		"AVX-512 F, BW and VBMI.")
	p := newPass4(c)
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	blocks, quant := Load(Param("blocks"), GP64()), Load(Param("quant"), GP64())
	second, third := Load(Param("second"), GP64()), Load(Param("third"), GP64())
	step, n := Load(Param("step"), GP64()), Load(Param("n"), GP64())

	Label("four")
	at, fourth := GP64(), GP64()
	LEAQ(Mem{Base: blocks, Index: third, Scale: 1}, fourth)
	ADDQ(second, fourth)
	block := [4]Mem{{Base: blocks}, {Base: blocks, Index: second, Scale: 1}, {Base: blocks, Index: third, Scale: 1}, {Base: fourth}}
	var halves [2][4]VecVirtual
	for b, from := range block {
		a, z := ZMM(), ZMM()
		VMOVDQU64(from, a)
		VMOVDQU64(from.Offset(64), z)
		VPMULLW(Mem{Base: quant}, a, a)
		VPMULLW(Mem{Base: quant, Disp: 64}, z, z)
		for h := range halves {
			halves[h][b] = ZMM()
			VMOVDQU64(order[h], halves[h][b])
			VPERMI2W(z, a, halves[h][b])
		}
	}
	rows := sorted(halves)
	p.refuse(rows[0], "wild")
	for _, to := range block {
		VMOVDQU64(p.zero, to)
		VMOVDQU64(p.zero, to.Offset(64))
	}
	// All AC coefficients in one vector.
	const or3 = 0xfe
	any, differs := ZMM(), K()
	VMOVDQU64(dc, any)
	VPANDNQ(rows[0], any, any)
	for i := 1; i < 7; i += 2 {
		VPTERNLOGQ(U8(or3), rows[i+1], rows[i], any)
	}
	VPORQ(rows[7], any, any)
	VPTESTMQ(any, any, differs)
	KORTESTW(differs, differs)
	MOVQ(dst, at)
	JZ(LabelRef("flat"))
	p.samples(rows, at, stride)

	Label("next")
	ADDQ(U8(32), dst)
	ADDQ(step, blocks)
	DECQ(n)
	JNZ(LabelRef("four"))
	Label("wild")
	Store(n, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("flat") // as the passes compute it, without the steps that change nothing
	VPADDW(four, rows[0], rows[0])
	VPSRAW(U8(3), rows[0], rows[0])
	VPACKSSWB(rows[0], rows[0], rows[0])
	VPXORQ(p.flip, rows[0], rows[0])
	VPSHUFB(p.zero, rows[0], rows[0])
	quads := ZMM()
	VMOVDQU64(first, quads)
	VPERMQ(rows[0], quads, rows[0])
	for range 4 {
		VMOVDQU(rows[0].AsY(), Mem{Base: at})
		VMOVDQU(rows[0].AsY(), Mem{Base: at, Index: stride, Scale: 1})
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	}
	JMP(LabelRef("next"))
}

// A writer brings four blocks' columns of words into rows of bytes.
type writer struct {
	flip         Mem // adds 128 to bytes
	upper, lower Mem // four columns' rows 0 to 3 and 4 to 7: a permutation of two vectors
}

func newWriter() writer {
	w := writer{flip: dwords4("four_flip", 0x80808080)}
	for i, m := range []*Mem{&w.upper, &w.lower} {
		*m = GLOBL([]string{"four_upper", "four_lower"}[i], RODATA|NOPTR)
		for d := range 16 { // so that interleaving dwords gives two rows each
			row, b := 4*i+d%4/2*2+d/8, d/4%2*2+d%2
			for c := range 4 {
				DATA(4*d+c, U8(c/2*64+16*b+c%2*8+row))
			}
		}
	}
	return w
}

// write writes columns, eight words per lane, to eight rows of 32 bytes. It moves dst.
func (w writer) write(columns [8]VecVirtual, dst, stride Register) {
	var two [4]VecVirtual // columns of bytes
	for i := range two {
		two[i] = ZMM()
		VPACKSSWB(columns[2*i+1], columns[2*i], two[i])
		VPXORQ(w.flip, two[i], two[i])
	}
	for _, order := range []Mem{w.upper, w.lower} {
		left, right := ZMM(), ZMM()
		VMOVDQU64(order, left)
		VMOVDQU64(order, right)
		VPERMI2B(two[1], two[0], left)
		VPERMI2B(two[3], two[2], right)
		for _, unpack := range []func(ops ...Op){VPUNPCKLDQ, VPUNPCKHDQ} {
			rows := ZMM()
			unpack(right, left, rows)
			VMOVDQU(rows.AsY(), Mem{Base: dst})
			VEXTRACTI64X4(U8(1), rows, Mem{Base: dst, Index: stride, Scale: 1})
			LEAQ(Mem{Base: dst, Index: stride, Scale: 2}, dst)
		}
	}
}

// sorted sorts four blocks by rows. Halves[h][b] are rows 4h to 4h+3 of block b.
func sorted(halves [2][4]VecVirtual) (rows [8]VecVirtual) {
	for h, z := range halves {
		var t [4]VecVirtual
		for i := 0; i < 4; i += 2 {
			t[i], t[i+1] = ZMM(), ZMM()
			VSHUFI64X2(U8(0x44), z[i+1], z[i], t[i])
			VSHUFI64X2(U8(0xee), z[i+1], z[i], t[i+1])
		}
		for i := range 2 {
			rows[4*h+2*i], rows[4*h+2*i+1] = ZMM(), ZMM()
			VSHUFI64X2(U8(0x88), t[2+i], t[i], rows[4*h+2*i])
			VSHUFI64X2(U8(0xdd), t[2+i], t[i], rows[4*h+2*i+1])
		}
	}
	return rows
}
