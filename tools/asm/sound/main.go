// Sound generates the AVX2 kernels of internal/sound. A register has a value of each of the four frames that are computed at a time.
// Products are fused with sums where the code in Go does it, too, so the results are equal.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vec is the size of a value of every lane, and complex that of a complex number.
const (
	vec     = 32
	complex = 2 * vec
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, p := range []struct {
		radix     int
		butterfly func(z []Mem, turned turner)
	}{{2, butterfly2}, {4, butterfly4}, {5, butterfly5()}} {
		pass(p.radix, p.butterfly)
		last(p.radix, p.butterfly)
	}
	split()
	window()
	filters()
	logarithms()
	greatest()
	level()
	product()
	Generate()
}

// constant repeats 64 bits four times.
func constant(name string, bits uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(bits))
	}
	return m
}

// A number is complex.
type number struct{ re, im VecVirtual }

func load(m Mem) number {
	n := number{YMM(), YMM()}
	VMOVUPD(m, n.re)
	VMOVUPD(m.Offset(vec), n.im)
	return n
}

func (n number) store(m Mem) {
	VMOVUPD(n.re, m)
	VMOVUPD(n.im, m.Offset(vec))
}

func plus(a, b number) number {
	n := number{YMM(), YMM()}
	VADDPD(b.re, a.re, n.re)
	VADDPD(b.im, a.im, n.im)
	return n
}

func minus(a, b number) number {
	n := number{YMM(), YMM()}
	VSUBPD(b.re, a.re, n.re)
	VSUBPD(b.im, a.im, n.im)
	return n
}

// turned is n times the twiddle at w.
func turned(n number, w Mem) number {
	c, s := YMM(), YMM()
	VBROADCASTSD(w, c)
	VBROADCASTSD(w.Offset(8), s)
	t := number{YMM(), YMM()}
	VMULPD(s, n.im, t.re)
	VMULPD(c, n.im, t.im)
	VFMSUB231PD(c, n.re, t.re)
	VFMADD231PD(s, n.re, t.im)
	return t
}

// A turner multiplies a number by a twiddle.
type turner func(n number, twiddle int) number

// places are where the numbers of a butterfly are: at z, and every step further. Addresses are a base and an index: radix·step may need more
// than one.
func places(radix int, z, step, step3 Register) []Mem {
	return []Mem{{Base: z}, {Base: z, Index: step, Scale: 1}, {Base: z, Index: step, Scale: 2}, {Base: z, Index: step3, Scale: 1},
		{Base: z, Index: step, Scale: 4}}[:radix]
}

// pass is a stage. butterfly replaces the numbers of z.
func pass(radix int, butterfly func(z []Mem, turned turner)) {
	name := fmt.Sprintf("pass%d", radix)
	TEXT(name, NOSPLIT, "func(z, twiddles *float64, m, blocks int)")
	Doc(fmt.Sprintf("%s is run%d of a stage.", name, radix))
	z, twiddles := Load(Param("z"), GP64()), Load(Param("twiddles"), GP64())
	m, blocks := Load(Param("m"), GP64()), Load(Param("blocks"), GP64())
	step, step3 := GP64(), GP64()
	MOVQ(m, step)
	SHLQ(U8(6), step)
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	Label("block")
	p, w := GP64(), GP64()
	MOVQ(m, p)
	MOVQ(twiddles, w)
	Label("p")
	butterfly(places(radix, z, step, step3), func(n number, k int) number { return turned(n, Mem{Base: w, Disp: 16 * k}) })
	ADDQ(U8(complex), z)
	ADDQ(U8(16*(radix-1)), w)
	DECQ(p)
	JNZ(LabelRef("p"))
	for range radix - 1 {
		ADDQ(step, z)
	}
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// last is a stage whose twiddles are 1.
func last(radix int, butterfly func(z []Mem, turned turner)) {
	name := fmt.Sprintf("last%d", radix)
	TEXT(name, NOSPLIT, "func(z *float64, blocks int)")
	Doc(fmt.Sprintf("%s is run%d of a stage whose m is 1.", name, radix))
	z, blocks := Load(Param("z"), GP64()), Load(Param("blocks"), GP64())
	var places []Mem
	for k := range radix {
		places = append(places, Mem{Base: z, Disp: complex * k})
	}
	Label("block")
	butterfly(places, func(n number, _ int) number { return n })
	ADDQ(I32(complex*radix), z)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func butterfly2(z []Mem, turned turner) {
	a, b := load(z[0]), load(z[1])
	plus(a, b).store(z[0])
	turned(minus(a, b), 0).store(z[1])
}

func butterfly4(z []Mem, turned turner) {
	a, c := load(z[0]), load(z[2])
	sum, dif := plus(a, c), minus(a, c)
	b, d := load(z[1]), load(z[3])
	odd := plus(b, d)
	turn := number{YMM(), YMM()} // -i(b-d)
	VSUBPD(d.im, b.im, turn.re)
	VSUBPD(b.re, d.re, turn.im)
	plus(sum, odd).store(z[0])
	turned(minus(sum, odd), 1).store(z[2])
	turned(plus(dif, turn), 0).store(z[1])
	turned(minus(dif, turn), 2).store(z[3])
}

func butterfly5() func(z []Mem, turned turner) {
	number5 := func(name string, v float64) Mem { return constant(name, math.Float64bits(v)) }
	const sine1, sine2 = 0.95105651629515357211643933337938214, 0.58778525229247312916870595463907277
	cos1, cos2 := number5("cos1", 0.30901699437494742410229341718281906), number5("cos2", -0.80901699437494742410229341718281906)
	sin1, ratio := number5("sin1", sine1), number5("ratio", sine2/sine1)
	// around is a + x·s + y·t.
	around := func(a, s, t VecVirtual, x, y Mem) VecVirtual {
		m := YMM()
		VMOVAPD(a, m)
		VFMADD231PD(x, s, m)
		VFMADD231PD(y, t, m)
		return m
	}
	return func(z []Mem, turned turner) {
		b, e := load(z[1]), load(z[4])
		s1, d1 := plus(b, e), minus(b, e)
		c, d := load(z[2]), load(z[3])
		s2, d2 := plus(c, d), minus(c, d)
		a := load(z[0])
		sum := plus(a, s1)
		plus(sum, s2).store(z[0])
		m1 := number{around(a.re, s1.re, s2.re, cos1, cos2), around(a.im, s1.im, s2.im, cos1, cos2)}
		m2 := number{around(a.re, s1.re, s2.re, cos2, cos1), around(a.im, s1.im, s2.im, cos2, cos1)}
		q, sine := YMM(), YMM()
		VMOVUPD(ratio, q)
		VMOVUPD(sin1, sine)
		n1, n2 := number{YMM(), YMM()}, number{YMM(), YMM()}
		VMOVAPD(d1.re, n1.re)
		VMOVAPD(d1.im, n1.im)
		VFMADD231PD(q, d2.re, n1.re)
		VFMADD231PD(q, d2.im, n1.im)
		VMOVAPD(d2.re, n2.re)
		VMOVAPD(d2.im, n2.im)
		VFMSUB231PD(q, d1.re, n2.re)
		VFMSUB231PD(q, d1.im, n2.im)
		for k, o := range []struct {
			m, n  number
			minus bool
		}{{m1, n1, true}, {m2, n2, true}, {m2, n2, false}, {m1, n1, false}} {
			x := o.m // m - i·n, or m + i·n
			if o.minus {
				x = number{YMM(), YMM()}
				VMOVAPD(o.m.re, x.re)
				VMOVAPD(o.m.im, x.im)
				VFMADD231PD(sine, o.n.im, x.re)
				VFNMADD231PD(sine, o.n.re, x.im)
			} else {
				VFNMADD231PD(sine, o.n.im, x.re)
				VFMADD231PD(sine, o.n.re, x.im)
			}
			turned(x, k).store(z[k+1])
		}
	}
}

// split rounds the spectrum to complex64 first, in the memory of its power. Then it squares: float32 in memory are converted faster than
// those in registers. The products are exact, so nothing is lost when one is fused.
func split() {
	TEXT("splitPower", NOSPLIT, "func(power, z *float64, places *int32, twist *float64, m, n int)")
	Doc("splitPower is what split does for k from 1 to n.")
	power, z := Load(Param("power"), GP64()), Load(Param("z"), GP64())
	up, twist := Load(Param("places"), GP64()), Load(Param("twist"), GP64())
	m, n := Load(Param("m"), GP64()), Load(Param("n"), GP64())
	down, low, high := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: up, Index: m, Scale: 4}, down)
	left := GP64()
	LEAQ(Mem{Base: m, Disp: -1}, left)
	SHLQ(U8(5), m)
	MOVQ(power, low)
	LEAQ(Mem{Base: power, Index: m, Scale: 1}, high)
	Label("k")
	ADDQ(U8(4), up)
	SUBQ(U8(4), down)
	ADDQ(U8(16), twist)
	ADDQ(U8(vec), low)
	SUBQ(U8(vec), high)
	a, b := GP64(), GP64()
	MOVLQSX(Mem{Base: up}, a)
	MOVLQSX(Mem{Base: down}, b)
	x, y := load(Mem{Base: z, Index: a, Scale: 1}), load(Mem{Base: z, Index: b, Scale: 1})
	d := number{YMM(), YMM()}
	VSUBPD(y.re, x.re, d.re)
	VADDPD(y.im, x.im, d.im)
	VADDPD(y.re, x.re, x.re)
	VSUBPD(y.im, x.im, x.im)
	c, s := YMM(), YMM()
	VBROADCASTSD(Mem{Base: twist}, c)
	VBROADCASTSD(Mem{Base: twist, Disp: 8}, s)
	o := number{YMM(), YMM()}
	VMULPD(s, d.re, o.re)
	VMULPD(c, d.re, o.im)
	VFMADD231PD(c, d.im, o.re)
	VFMSUB231PD(s, d.im, o.im)
	for k, n := range []number{plus(x, o), minus(x, o)} {
		to := Mem{Base: []Register{low, high}[k]}
		for i, v := range []VecVirtual{n.re, n.im} {
			VCVTPD2PSY(v, v.AsX())
			VMOVUPS(v.AsX(), to.Offset(16*i))
		}
	}
	DECQ(n)
	JNZ(LabelRef("k"))
	Label("square")
	ADDQ(U8(vec), power)
	re, im := YMM(), YMM()
	VCVTPS2PD(Mem{Base: power}, re)
	VCVTPS2PD(Mem{Base: power, Disp: 16}, im)
	VMULPD(re, re, re)
	VFMADD231PD(im, im, re)
	VMOVUPD(re, Mem{Base: power})
	DECQ(left)
	JNZ(LabelRef("square"))
	VZEROUPPER()
	RET()
}

// window multiplies four samples of each of four frames at a time, and turns lanes of time into lanes of frames.
func window() {
	TEXT("windows4", NOSPLIT, "func(dst *float64, a, b, c, d *float32, window *float64, n int)")
	Doc("windows4 multiplies n times four samples of four frames.")
	dst, win, n := Load(Param("dst"), GP64()), Load(Param("window"), GP64()), Load(Param("n"), GP64())
	var frames [4]Register
	for k, name := range []string{"a", "b", "c", "d"} {
		frames[k] = Load(Param(name), GP64())
	}
	Label("samples")
	w := YMM()
	VMOVUPD(Mem{Base: win}, w)
	var v [4]VecVirtual
	for k := range v {
		v[k] = YMM()
		VCVTPS2PD(Mem{Base: frames[k]}, v[k])
		VMULPD(w, v[k], v[k])
	}
	var t [4]VecVirtual
	for k := range t {
		t[k] = YMM()
	}
	VUNPCKLPD(v[1], v[0], t[0]) // a0 b0 a2 b2
	VUNPCKHPD(v[1], v[0], t[1]) // a1 b1 a3 b3
	VUNPCKLPD(v[3], v[2], t[2])
	VUNPCKHPD(v[3], v[2], t[3])
	for k := range 2 {
		r := YMM()
		VPERM2F128(U8(0x20), t[k+2], t[k], r)
		VMOVUPD(r, Mem{Base: dst, Disp: vec * k})
		VPERM2F128(U8(0x31), t[k+2], t[k], r)
		VMOVUPD(r, Mem{Base: dst, Disp: vec * (k + 2)})
	}
	for _, f := range frames {
		ADDQ(U8(16), f)
	}
	ADDQ(U8(32), win)
	ADDQ(I32(4*vec), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}

// filters sums up weighted frequencies.
func filters() {
	TEXT("sums", NOSPLIT, "func(dst, power *float64, spans *int32, weights *float64, n int)")
	Doc("sums is Sum of n filters.")
	dst, power, spans := Load(Param("dst"), GP64()), Load(Param("power"), GP64()), Load(Param("spans"), GP64())
	weights, n := Load(Param("weights"), GP64()), Load(Param("n"), GP64())
	Label("filter")
	at, left := GP64(), GP64()
	MOVLQSX(Mem{Base: spans}, at)
	MOVLQSX(Mem{Base: spans, Disp: 4}, left)
	SHLQ(U8(5), at)
	ADDQ(power, at)
	sum, w := YMM(), YMM()
	VXORPD(sum, sum, sum)
	TESTQ(left, left)
	JZ(LabelRef("none"))
	Label("weight")
	VBROADCASTSD(Mem{Base: weights}, w)
	VFMADD231PD(Mem{Base: at}, w, sum)
	ADDQ(U8(8), weights)
	ADDQ(U8(vec), at)
	DECQ(left)
	JNZ(LabelRef("weight"))
	Label("none")
	VMOVUPD(sum, Mem{Base: dst})
	ADDQ(U8(vec), dst)
	ADDQ(U8(8), spans)
	DECQ(n)
	JNZ(LabelRef("filter"))
	VZEROUPPER()
	RET()
}

// logarithms are those of Logs. They are made in parts: first the divisions of a part, which are slow to come, and then what is made of
// them.
func logarithms() {
	const part = 16
	root, fraction := constant("rootHalf", 0x3fe6a09e667f3bcd), constant("exponent", 0xfff<<52)
	smallest, infinite := constant("smallest", 0x0010000000000000), constant("infinite", 0x7ff0000000000000)
	number := func(name string, v float64) Mem { return constant(name, math.Float64bits(v)) }
	one, two, ln2 := number("one", 1), number("two", 2), number("ln2", math.Ln2)
	var l [8]Mem // from 1 on
	for k, v := range []float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01} {
		l[k+1] = number(fmt.Sprintf("l%d", k+1), v)
	}
	TEXT("logs", NOSPLIT, "func(dst *float32, src *float64, n int, floor, offset, factor float64) (usual bool)")
	Doc("logs is Logs of n values. If it is not usual, there are numbers for which math.Log is wanted, and dst is undefined.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	floor, offset, factor, all := YMM(), YMM(), YMM(), YMM()
	for k, v := range []VecVirtual{floor, offset, factor} {
		x := XMM()
		Load(Param([]string{"floor", "offset", "factor"}[k]), x)
		VBROADCASTSD(x, v)
	}
	VPCMPEQD(all, all, all)
	quotients := AllocLocal(part * vec)
	Label("part")
	length, left, at, to := GP64(), GP64(), GP64(), GP64()
	MOVQ(U64(part), length)
	CMPQ(n, length)
	CMOVQLT(n, length)
	MOVQ(length, left)
	LEAQ(quotients, at)
	MOVQ(dst, to)
	Label("quotient")
	x, t := YMM(), YMM()
	VMOVUPD(Mem{Base: src}, x)
	VMAXPD(x, floor, x)
	VADDPD(offset, x, x)
	VCMPPD(U8(13), smallest, x, t) // x >= smallest
	VANDPD(t, all, all)
	VCMPPD(U8(1), infinite, x, t) // x < infinite
	VANDPD(t, all, all)
	bits := YMM()
	VPSUBQ(root, x, bits)
	VPAND(fraction, bits, t)
	VPSUBQ(t, x, x)
	VSUBPD(one, x, x)
	VADDPD(two, x, t)
	VDIVPD(t, x, x)
	VMOVUPD(x, Mem{Base: at})
	// The exponent, from the upper halves of the numbers.
	upper := XMM()
	VEXTRACTF128(U8(1), bits, upper)
	VSHUFPS(U8(0xdd), upper, bits.AsX(), upper)
	VPSRAD(U8(20), upper, upper)
	VMOVUPS(upper, Mem{Base: to})
	ADDQ(U8(vec), src)
	ADDQ(U8(vec), at)
	ADDQ(U8(16), to)
	DECQ(left)
	JNZ(LabelRef("quotient"))
	SUBQ(length, n)
	LEAQ(quotients, at)
	Label("value")
	s, s2, s4, k := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(Mem{Base: at}, s)
	VCVTDQ2PD(Mem{Base: dst}, k)
	VMULPD(s, s, s2)
	VMULPD(s2, s2, s4)
	// series is l[a] + s4·(l[a+2] + …).
	series := func(a, last int) VecVirtual {
		sum := YMM()
		VMOVUPD(l[last], sum)
		for i := last - 2; i >= a; i -= 2 {
			VFMADD213PD(l[i], s4, sum)
		}
		return sum
	}
	odd, even, r := series(1, 7), series(2, 6), YMM()
	VFMADD213PD(two, s2, odd)
	VFMADD231PD(s4, even, odd)
	VMULPD(s, odd, r)
	VFMADD231PD(ln2, k, r)
	VMULPD(factor, r, r)
	VCVTPD2PSY(r, r.AsX())
	VMOVUPS(r.AsX(), Mem{Base: dst})
	ADDQ(U8(16), dst)
	ADDQ(U8(vec), at)
	DECQ(length)
	JNZ(LabelRef("value"))
	TESTQ(n, n)
	JNZ(LabelRef("part"))
	answer := GP32()
	VMOVMSKPD(all, answer)
	CMPL(answer, U8(15))
	usual := GP8()
	SETEQ(usual)
	Store(usual, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func greatest() {
	TEXT("greatest8", NOSPLIT, "func(x *float32, n int) (greatest float32, numbers bool)")
	Doc("greatest8 is the greatest of n times eight numbers, if numbers says that all are.")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	most, none := YMM(), YMM()
	VMOVUPS(Mem{Base: x}, most)
	VXORPS(none, none, none)
	Label("numbers")
	v, t := YMM(), YMM()
	VMOVUPS(Mem{Base: x}, v)
	VCMPPS(U8(3), v, v, t) // not a number
	VORPS(t, none, none)
	VMAXPS(v, most, most)
	ADDQ(U8(32), x)
	DECQ(n)
	JNZ(LabelRef("numbers"))
	half := XMM()
	VEXTRACTF128(U8(1), most, half)
	VMAXPS(half, most.AsX(), half)
	other := XMM()
	VMOVHLPS(half, half, other)
	VMAXPS(other, half, half)
	VPSHUFD(U8(1), half, other)
	VMAXSS(other, half, half)
	Store(half, ReturnIndex(0))
	mask := GP32()
	VMOVMSKPS(none, mask)
	TESTL(mask, mask)
	all := GP8()
	SETEQ(all)
	Store(all, ReturnIndex(1))
	VZEROUPPER()
	RET()
}

func level() {
	TEXT("level8", NOSPLIT, "func(x *float32, n int, least, mean, std float32)")
	Doc("level8 is Level of n times eight numbers.")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	var all [3]VecVirtual
	for k, name := range []string{"least", "mean", "std"} {
		v := XMM()
		Load(Param(name), v)
		all[k] = YMM()
		VBROADCASTSS(v, all[k])
	}
	Label("level")
	v := YMM()
	VMOVUPS(Mem{Base: x}, v)
	VMAXPS(v, all[0], v)
	VSUBPS(all[1], v, v)
	VDIVPS(all[2], v, v)
	VMOVUPS(v, Mem{Base: x})
	ADDQ(U8(32), x)
	DECQ(n)
	JNZ(LabelRef("level"))
	VZEROUPPER()
	RET()
}

func product() {
	TEXT("product4", NOSPLIT, "func(weights, samples *float32, n int) float64")
	Doc("product4 is Product of n times four numbers.")
	weights, samples, n := Load(Param("weights"), GP64()), Load(Param("samples"), GP64()), Load(Param("n"), GP64())
	sum := YMM()
	VXORPD(sum, sum, sum)
	Label("products")
	w, x := YMM(), YMM()
	VCVTPS2PD(Mem{Base: weights}, w)
	VCVTPS2PD(Mem{Base: samples}, x)
	VMULPD(x, w, w)
	VADDPD(w, sum, sum)
	ADDQ(U8(16), weights)
	ADDQ(U8(16), samples)
	DECQ(n)
	JNZ(LabelRef("products"))
	half, other := XMM(), XMM()
	VEXTRACTF128(U8(1), sum, half)
	VADDPD(half, sum.AsX(), half)
	VPERMILPD(U8(1), half, other)
	VADDSD(other, half, half)
	Store(half, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
