package main

import (
	"encoding/binary"

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

// weights are what passes over two and over four blocks compute with. The former read half of a vector.
type weights struct {
	even2, even3 Mem // of inputs 2 and 6
	odd3, odd4   Mem // of 7+3 and 1+5
	out0, out3   Mem // of 7 and 1
	out1, out2   Mem // of 3 and 5
	round        [2]Mem
	shift        [2]uint64
	half         Mem // of 8, by which blocks without AC coefficients are divided
	flip         Mem // adds 128 to bytes
}

func newWeights() weights {
	return weights{
		even3: pairs4("even3", fix0541+fix0765, fix0541),
		even2: pairs4("even2", fix0541, fix0541-fix1847),
		odd3:  pairs4("odd3", fix1175-fix1961, fix1175),
		odd4:  pairs4("odd4", fix1175, fix1175-fix0390),
		out0:  pairs4("out0", fix0298-fix0899, -fix0899),
		out3:  pairs4("out3", -fix0899, fix1501-fix0899),
		out1:  pairs4("out1", -fix2562, fix2053-fix2562),
		out2:  pairs4("out2", fix3072-fix2562, -fix2562),
		round: [2]Mem{dwords4("round0", 1<<10), dwords4("round1", 1<<17)},
		shift: [2]uint64{11, 18},
		half:  pairs4("half", 4, 4),
		flip:  dwords4("flip", 0x80808080),
	}
}

// constants are what passes over two blocks compute with.
type constants struct {
	weights
	sum, difference Mem    // weights of inputs 0 and 4
	limit, beyond   [2]Mem // a value plus the limit has none of the bits
	turn            Mem    // brings a row's words into the order of pairing
}

func newConstants(w weights) *constants {
	turn := GLOBL("turn", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(2*pairing[i%16/4][i/2%2]+i%2))
	}
	return &constants{
		weights:    w,
		sum:        pairs("sum", 1<<13, 1<<13),
		difference: pairs("difference", 1<<13, -1<<13),
		limit:      [2]Mem{words("limit0", 1<<13), words("limit1", 1<<14)},
		beyond:     [2]Mem{words("beyond0", -1<<14), words("beyond1", -1<<15)},
		turn:       turn,
	}
}

// inputs are those of eight 1-D transforms of each of two blocks, which are in one lane
// each: by half of the transforms, pairs of inputs, interleaved.
type inputs [2][4]VecVirtual

// pairing says which inputs are pairs.
var pairing = [4][2]int{in04: {0, 4}, in26: {2, 6}, in71: {7, 1}, in35: {3, 5}}

const (
	in04 = iota
	in26
	in71
	in35
)

// A pass computes eight 1-D transforms for each of two blocks.
type pass struct {
	*constants
	kept Mem // on the stack
}

func newPass(c *constants) *pass { return &pass{c, AllocLocal(4 * vector)} }

func inverse(c *constants) {
	TEXT("inverse2", NOSPLIT, "func(dst *byte, stride int, blocks, quant *int16) bool")
	Doc("inverse2 writes the samples of two neighbouring blocks. It reports false, and writes",
		"nothing, if an input of the transforms is beyond what real images have.")
	p := newPass(c)
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
	var in inputs
	for i, pair := range pairing {
		in[0][i], in[1][i] = YMM(), YMM()
		VPUNPCKLWD(rows[pair[1]], rows[pair[0]], in[0][i])
		VPUNPCKHWD(rows[pair[1]], rows[pair[0]], in[1][i])
	}
	p.samples(in, nil, dst, stride, "wild")
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

// inverseStretch2 computes the samples of blocks as decodePairs leaves them.
func inverseStretch2(c *constants) {
	ac := GLOBL("stretch2_ac", RODATA|NOPTR)
	for i := range 4 {
		v := ^uint64(0)
		if i%2 == 0 {
			v <<= 16
		}
		DATA(8*i, U64(v))
	}
	masks := newMasks()

	TEXT("inverseStretch2", NOSPLIT, "func(dst *byte, stride int, blocks *int16, second, step int, quant *int16, n int) (left int)")
	Pragma("noescape")
	Doc("inverseStretch2 writes the samples of n times two neighbouring blocks in zigzag order, and",
		"clears them. The second and the next first block are so many bytes after the first one.",
		"Quant is in zigzag order. It ends before blocks of which an input of the transforms is",
		"beyond what real images have, and returns how many times two are left.")
	p := newPass(c)
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	blocks, second := Load(Param("blocks"), GP64()), Load(Param("second"), GP64())
	step, n := Load(Param("step"), GP64()), Load(Param("n"), GP64())
	quant, twice := Load(Param("quant"), GP64()), AllocLocal(8*vector)
	for i := range 8 {
		q := YMM()
		VBROADCASTI128(Mem{Base: quant, Disp: 16 * i}, q)
		VMOVDQU(q, twice.Offset(vector*i))
	}

	Label("two")
	other, at := GP64(), GP64()
	LEAQ(Mem{Base: blocks, Index: second, Scale: 1}, other)
	MOVQ(dst, at)
	more := YMM() // whether there are coefficients after the first 16
	for b, block := range []Register{blocks, other} {
		for i := 1; i < 4; i++ {
			if from := (Mem{Base: block, Disp: vector * i}); b == 0 && i == 1 {
				VMOVDQU(from, more)
			} else {
				VPOR(from, more, more)
			}
		}
	}
	load := func(n int) (v [8]VecVirtual) {
		for i := range n {
			v[i] = YMM()
			VBROADCASTI128(Mem{Base: blocks, Disp: 16 * i}, v[i]) // for its lower lane
			VINSERTI128(U8(1), Mem{Base: other, Disp: 16 * i}, v[i], v[i])
			VPMULLW(twice.Offset(vector*i), v[i], v[i])
		}
		return v
	}
	VPTEST(more, more)
	JZ(LabelRef("few"))
	p.samples(masks.gather(load(8)), nil, at, stride, "wild")

	Label("next")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := range 4 {
		VMOVDQU(zero, Mem{Base: blocks, Disp: vector * i})
		VMOVDQU(zero, Mem{Base: other, Disp: vector * i})
	}
	ADDQ(U8(16), dst)
	ADDQ(step, blocks)
	DECQ(n)
	JNZ(LabelRef("two"))
	Label("wild")
	Store(n, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("few") // in the left half, and two in the first row of the right one, where every column has no others
	v := load(2)
	any := YMM()
	VPAND(ac, v[0], any)
	VPOR(v[1], any, any)
	VPTEST(any, any)
	JZ(LabelRef("flat"))
	in, right := masks.gather(v), YMM()
	VPMADDWD(p.half, in[1][in04], right)
	p.samples(in, right, at, stride, "wild")
	JMP(LabelRef("next"))

	Label("flat") // as the passes compute it, without the steps that change nothing
	p.refuse(v[0], v[0], 0, "wild")
	VPADDW(p.half, v[0], v[0])
	VPSRAW(U8(3), v[0], v[0])
	VPACKSSWB(v[0], v[0], v[0])
	VPXOR(p.flip, v[0], v[0])
	first := YMM()
	VPXOR(first, first, first)
	VPSHUFB(first, v[0], v[0])
	VPERMQ(U8(0b10_00), v[0], v[0]) // the first quadword of each lane
	for range 4 {
		VMOVDQU(v[0].AsX(), Mem{Base: at})
		VMOVDQU(v[0].AsX(), Mem{Base: at, Index: stride, Scale: 1})
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	}
	JMP(LabelRef("next"))
}

// masks say from which vectors of eight coefficients in zigzag order, and how, the inputs of
// the first pass are collected.
type masks [2][4][8]Op // nil if no coefficient is in the vector

func newMasks() (m masks) {
	place, table, size := zigzag(), GLOBL("gather", RODATA|NOPTR), 0
	for half := range m {
		for i, pair := range pairing {
			var places [8]int
			for w := range places {
				places[w] = place[8*pair[w%2]+4*half+w/2]
			}
			for v := range 8 {
				mask, used := collecting(places, v)
				if !used {
					continue
				}
				m[half][i][v] = table.Offset(size)
				for i := range 4 {
					DATA(size+8*i, U64(binary.LittleEndian.Uint64(mask[i%2*8:])))
				}
				size += vector
			}
		}
	}
	return m
}

// gather collects the inputs. Vectors that are nil are zero.
func (m *masks) gather(v [8]VecVirtual) (in inputs) {
	for half := range m {
		for i := range m[half] {
			for j, mask := range m[half][i] {
				switch {
				case mask == nil || v[j] == nil:
				case in[half][i] == nil:
					in[half][i] = YMM()
					VPSHUFB(mask, v[j], in[half][i])
				default:
					t := YMM()
					VPSHUFB(mask, v[j], t)
					VPOR(t, in[half][i], in[half][i])
				}
			}
		}
	}
	return in
}

// samples runs both passes and writes the samples. It moves dst. Right is nil or what the second half of the first pass gives
// for every row.
func (p *pass) samples(in inputs, right VecVirtual, dst, stride Register, wild string) {
	p.refuse(in[0][in04], in[1][in04], 0, wild)
	in = p.turned(p.run(in, right, 0))
	p.refuse(in[0][in04], in[1][in04], 1, wild)
	p.write(p.run(in, nil, 1), dst, stride)
}

// refuse jumps to the label if an input 0 or 4 is so great that their sum may be beyond 16
// bits, and in the first pass also the result.
func (p *pass) refuse(a, b VecVirtual, which int, label string) {
	lower, upper := YMM(), YMM()
	VPADDW(p.limit[which], a, lower)
	VPADDW(p.limit[which], b, upper)
	VPOR(upper, lower, lower)
	VPTEST(p.beyond[which], lower)
	JNZ(LabelRef(label))
}

// run returns the pass's results, saturated at 16 bits. Right is nil or all results of its second half.
func (p *pass) run(in inputs, right VecVirtual, which int) (out [8]VecVirtual) {
	for _, half := range []int{1, 0} {
		if half == 1 && right != nil {
			continue
		}
		x := in[half]
		even := p.even(x, which)
		// finish makes outputs i and 7-i of the even part and the odd one. Those of the
		// upper half wait for the lower one: four on the stack, and four in registers.
		finish := func(i int, odd VecVirtual) {
			plus, minus := YMM(), even[i]
			VPADDD(odd, even[i], plus)
			VPSUBD(odd, even[i], minus)
			for j, v := range []VecVirtual{plus, minus} {
				k := i + j*(7-2*i)
				kept := p.kept.Offset(vector * (i%2*2 + j))
				VPSRAD(U8(p.shift[which]), v, v)
				switch onStack := i%3 == 0; {
				case half == 1 && onStack:
					VMOVDQU(v, kept)
					continue
				case half == 0 && right != nil:
					VPACKSSDW(right, v, v)
				case half == 0 && onStack:
					VPACKSSDW(kept, v, v)
				case half == 0:
					VPACKSSDW(out[k], v, v)
				}
				out[k] = v
			}
		}

		z, odd3, odd4 := YMM(), YMM(), YMM()
		VPADDW(x[in35], x[in71], z)
		VPMADDWD(p.odd3, z, odd3)
		VPMADDWD(p.odd4, z, odd4)

		a, b := YMM(), YMM()
		VPMADDWD(p.out3, x[in71], a)
		VPMADDWD(p.out0, x[in71], b)
		VPADDD(odd4, a, a)
		VPADDD(odd3, b, b)
		finish(0, a)
		finish(3, b)

		a, b = YMM(), YMM()
		VPMADDWD(p.out2, x[in35], a)
		VPMADDWD(p.out1, x[in35], b)
		VPADDD(odd3, a, a)
		VPADDD(odd4, b, b)
		finish(1, a)
		finish(2, b)
	}
	return out
}

// even returns the even parts 0 to 3, with the rounding.
func (p *pass) even(x [4]VecVirtual, which int) (even [4]VecVirtual) {
	var t [4]VecVirtual
	for i, weights := range []Mem{p.sum, p.difference, p.even2, p.even3} {
		t[i] = YMM()
		VPMADDWD(weights, x[i/2], t[i])
	}
	for i := range 2 {
		VPADDD(p.round[which], t[i], t[i])
		even[i], even[3-i] = YMM(), YMM()
		VPADDD(t[3-i], t[i], even[i])
		VPSUBD(t[3-i], t[i], even[3-i])
	}
	return even
}

// turned makes inputs of rows: the transforms of the next pass are those of the rows.
func (p *pass) turned(rows [8]VecVirtual) (in inputs) {
	for half := range in {
		r := rows[4*half:]
		var t [4]VecVirtual
		for i := range 4 {
			VPSHUFB(p.turn, r[i], r[i])
			t[i] = YMM()
		}
		for i := 0; i < 4; i += 2 {
			VPUNPCKLDQ(r[i+1], r[i], t[i])
			VPUNPCKHDQ(r[i+1], r[i], t[i+1])
		}
		for i := range 2 {
			in[half][2*i], in[half][2*i+1] = YMM(), YMM()
			VPUNPCKLQDQ(t[2+i], t[i], in[half][2*i])
			VPUNPCKHQDQ(t[2+i], t[i], in[half][2*i+1])
		}
	}
	return in
}

// write writes columns, eight words per lane, to eight rows of 16 bytes. It moves dst.
func (p *pass) write(columns [8]VecVirtual, dst, stride Register) {
	var c [4]VecVirtual // columns i and i+4
	for i := range c {
		c[i] = YMM()
		VPACKSSWB(columns[i+4], columns[i], c[i])
	}
	interleave := func(lower, upper func(ops ...Op)) {
		var d [4]VecVirtual
		for i := range 2 {
			d[i], d[2+i] = YMM(), YMM()
			lower(c[2*i+1], c[2*i], d[i])
			upper(c[2*i+1], c[2*i], d[2+i])
		}
		c = d
	}
	interleave(VPUNPCKLBW, VPUNPCKHBW) // columns 0 and 1, 2 and 3, 4 and 5, 6 and 7
	interleave(VPUNPCKLWD, VPUNPCKHWD) // columns 0 to 3 and 4 to 7: rows 0 to 3, then 4 to 7
	interleave(VPUNPCKLDQ, VPUNPCKHDQ) // rows 0 and 1, 4 and 5, 2 and 3, 6 and 7
	for _, i := range []int{0, 2, 1, 3} {
		VPXOR(p.flip, c[i], c[i])
		VPERMQ(U8(0xd8), c[i], c[i])
		VMOVDQU(c[i].AsX(), Mem{Base: dst})
		VEXTRACTI128(U8(1), c[i], Mem{Base: dst, Index: stride, Scale: 1})
		LEAQ(Mem{Base: dst, Index: stride, Scale: 2}, dst)
	}
}

// transposed transposes the 8×8 words of each lane.
func transposed(r [8]VecVirtual) [8]VecVirtual {
	var a, b, c [8]VecVirtual
	for i := range 4 {
		a[2*i], a[2*i+1] = ZMM(), ZMM()
		VPUNPCKLWD(r[2*i+1], r[2*i], a[2*i])
		VPUNPCKHWD(r[2*i+1], r[2*i], a[2*i+1])
	}
	for i := range 2 {
		for h := range 2 {
			lower, upper := a[4*i+h], a[4*i+2+h]
			b[4*i+2*h], b[4*i+2*h+1] = ZMM(), ZMM()
			VPUNPCKLDQ(upper, lower, b[4*i+2*h])
			VPUNPCKHDQ(upper, lower, b[4*i+2*h+1])
		}
	}
	for i := range 4 {
		c[2*i], c[2*i+1] = ZMM(), ZMM()
		VPUNPCKLQDQ(b[4+i], b[i], c[2*i])
		VPUNPCKHQDQ(b[4+i], b[i], c[2*i+1])
	}
	return c
}

// constants4 are what passes over four blocks compute with.
type constants4 struct {
	weights
	limit        Mem
	upper, lower Mem // four columns' rows 0 to 3 and 4 to 7: a permutation of two vectors
}

func newConstants4(w weights) *constants4 {
	c := &constants4{weights: w, limit: pairs4("four_limit", 8191, 8191)}
	for i, m := range []*Mem{&c.upper, &c.lower} {
		*m = GLOBL([]string{"four_upper", "four_lower"}[i], RODATA|NOPTR)
		for d := range 16 { // so that interleaving dwords gives two rows each
			row, b := 4*i+d%4/2*2+d/8, d/4%2*2+d%2
			for c := range 4 {
				DATA(4*d+c, U8(c/2*64+16*b+c%2*8+row))
			}
		}
	}
	return c
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
	p.write(p.run(transposed(p.run(rows, 0)), 1), dst, stride)
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
		unpack(rows[5], rows[3], b)
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
	VPADDW(p.half, rows[0], rows[0])
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

// write writes columns, eight words per lane, to eight rows of 32 bytes. It moves dst.
func (c *constants4) write(columns [8]VecVirtual, dst, stride Register) {
	var two [4]VecVirtual // columns of bytes
	for i := range two {
		two[i] = ZMM()
		VPACKSSWB(columns[2*i+1], columns[2*i], two[i])
		VPXORQ(c.flip, two[i], two[i])
	}
	for _, order := range []Mem{c.upper, c.lower} {
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
