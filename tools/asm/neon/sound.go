package main

import (
	"fmt"
	"math"
)

// The kernels of sound compute four frames at a time, as those of AVX2 do: two registers have a value of each. A complex number is four
// registers, so every kernel does the same twice, for its two halves.

// sounds are all of them.
func sounds(p *program) {
	for _, radix := range []int{2, 4, 5} {
		soundPass(p, radix)
		soundLast(p, radix)
	}
	soundSplit(p)
	soundWindows(p)
	soundSums(p)
	soundLogs(p)
	soundGreatest(p)
	soundLevel(p)
	soundProduct(p)
}

// doubles fills vector register v with two numbers.
func (p *program) doubles(v int, low, high float64) {
	p.table(v, math.Float64bits(low), math.Float64bits(high))
}

// words64 fills vector register v with the same 64 bits.
func (p *program) words64(v int, bits uint64) {
	p.op("MOVD $%#x, R15", bits)
	p.vec("dup v%d.2d, x15", v)
}

// float loads the float parameter at that offset into all of vector register v.
func (p *program) float(v int, name string, offset, size int) {
	if size == 8 {
		p.op("MOVD %s+%d(FP), R15", name, offset)
		p.vec("dup v%d.2d, x15", v)
	} else {
		p.op("MOVWU %s+%d(FP), R15", name, offset)
		p.vec("dup v%d.4s, w15", v)
	}
}

// binary is three-operand arithmetic with all of two registers.
func (p *program) binary(op string, to, a, b int) {
	p.vec("%s v%d.2d, v%d.2d, v%d.2d", op, to, a, b)
}

// by is arithmetic with an element of a register.
func (p *program) by(op string, to, a, b, element int) {
	p.vec("%s v%d.2d, v%d.2d, v%d.d[%d]", op, to, a, b, element)
}

func (p *program) move(to, from int) { p.vec("mov v%d.16b, v%d.16b", to, from) }

// An at is where half of a complex number is: x register and offset.
type at struct{ register, offset int }

// halfAt is the place of half h of the number at an address.
func halfAt(register, offset, h int) at { return at{register, offset + 16*h} }

func (p *program) loadNumber(re, im int, m at) {
	p.vec("ldr q%d, [x%d, #%d]", re, m.register, m.offset)
	p.vec("ldr q%d, [x%d, #%d]", im, m.register, m.offset+32)
}

func (p *program) storeNumber(re, im int, m at) {
	p.vec("str q%d, [x%d, #%d]", re, m.register, m.offset)
	p.vec("str q%d, [x%d, #%d]", im, m.register, m.offset+32)
}

// butterfly replaces half of the numbers. turn multiplies the number in two registers by a twiddle.
func (p *program) butterfly(z []at, turn func(re, im, twiddle int)) {
	for k, m := range z {
		p.loadNumber(2*k, 2*k+1, m)
	}
	plus := func(to, a, b int) {
		p.binary("fadd", to, a, b)
		p.binary("fadd", to+1, a+1, b+1)
	}
	minus := func(to, a, b int) {
		p.binary("fsub", to, a, b)
		p.binary("fsub", to+1, a+1, b+1)
	}
	switch len(z) {
	case 2:
		plus(10, 0, 2)
		minus(12, 0, 2)
		p.storeNumber(10, 11, z[0])
		turn(12, 13, 0)
		p.storeNumber(12, 13, z[1])
	case 4:
		plus(10, 0, 4) // the sum and the difference of the even ones
		minus(12, 0, 4)
		plus(14, 2, 6)
		p.binary("fsub", 16, 3, 7) // -i times the difference of the odd ones
		p.binary("fsub", 17, 6, 2)
		plus(0, 10, 14)
		p.storeNumber(0, 1, z[0])
		for k, out := range []func(){func() { plus(2, 12, 16) }, func() { minus(2, 10, 14) }, func() { minus(2, 12, 16) }} {
			out()
			turn(2, 3, k)
			p.storeNumber(2, 3, z[k+1])
		}
	case 5:
		plus(10, 2, 8) // s1, d1, s2, d2
		minus(12, 2, 8)
		plus(14, 4, 6)
		minus(16, 4, 6)
		plus(18, 0, 10)
		plus(18, 18, 14)
		p.storeNumber(18, 19, z[0])
		for i := range 2 { // of real and imaginary parts
			p.move(20+i, i) // m1
			p.by("fmla", 20+i, 10+i, 28, 0)
			p.by("fmla", 20+i, 14+i, 28, 1)
			p.move(22+i, i) // m2
			p.by("fmla", 22+i, 10+i, 28, 1)
			p.by("fmla", 22+i, 14+i, 28, 0)
			p.move(24+i, 12+i) // n1
			p.by("fmla", 24+i, 16+i, 29, 1)
			p.vec("fneg v%d.2d, v%d.2d", 26+i, 16+i) // n2
			p.by("fmla", 26+i, 12+i, 29, 1)
		}
		for k, o := range []struct {
			m, n    int
			re, im  string // of m - i·n, or of m + i·n
			another bool   // m is wanted again
		}{{20, 24, "fmla", "fmls", true}, {22, 26, "fmla", "fmls", true}, {22, 26, "fmls", "fmla", false}, {20, 24, "fmls", "fmla", false}} {
			x := o.m
			if o.another {
				x = 2
				p.move(2, o.m)
				p.move(3, o.m+1)
			}
			p.by(o.re, x, o.n+1, 29, 0)
			p.by(o.im, x+1, o.n, 29, 0)
			turn(x, x+1, k)
			p.storeNumber(x, x+1, z[k+1])
		}
	}
}

// fifths are the constants of the butterfly of five: cosines, and a sine with a ratio.
func (p *program) fifths() {
	const sin1, sin2 = 0.95105651629515357211643933337938214, 0.58778525229247312916870595463907277
	p.doubles(28, 0.30901699437494742410229341718281906, -0.80901699437494742410229341718281906)
	p.doubles(29, sin1, sin2/sin1)
}

func soundPass(p *program, radix int) {
	name := fmt.Sprintf("pass%d", radix)
	p.function(fmt.Sprintf("%s is run%d of a stage.", name, radix), name, 0, "z", "twiddles", "m", "blocks")
	if radix == 5 {
		p.fifths()
	}
	p.op("LSL $6, R2, R4")
	p.label("block")
	for k := 1; k < radix; k++ {
		last := []int{0, 7, 8, 9}[k-1]
		p.op("ADD R4, R%d, R%d", last, 6+k)
	}
	p.op("MOVD R2, R5")
	p.op("MOVD R1, R6")
	p.label("p")
	for h := range 2 {
		var z []at
		for k := range radix {
			z = append(z, halfAt([]int{0, 7, 8, 9, 10}[k], 0, h))
		}
		p.butterfly(z, func(re, im, twiddle int) {
			p.vec("ldr q6, [x6, #%d]", 16*twiddle) // c, s
			p.vec("fneg v7.2d, v6.2d")
			p.by("fmul", 8, im, 7, 1)
			p.by("fmul", 9, im, 6, 0)
			p.by("fmla", 8, re, 6, 0)
			p.by("fmla", 9, re, 6, 1)
			p.move(re, 8)
			p.move(im, 9)
		})
	}
	for k := range radix {
		r := []int{0, 7, 8, 9, 10}[k]
		p.op("ADD $64, R%d, R%d", r, r)
	}
	p.op("ADD $%d, R6, R6", 16*(radix-1))
	p.op("SUBS $1, R5, R5")
	p.op("BNE p")
	p.op("MOVD R%d, R0", 6+radix-1) // the end of the block
	p.op("SUBS $1, R3, R3")
	p.op("BNE block")
	p.op("RET")
}

func soundLast(p *program, radix int) {
	name := fmt.Sprintf("last%d", radix)
	p.function(fmt.Sprintf("%s is run%d of a stage whose m is 1.", name, radix), name, 0, "z", "blocks")
	if radix == 5 {
		p.fifths()
	}
	p.label("block")
	for h := range 2 {
		var z []at
		for k := range radix {
			z = append(z, halfAt(0, 64*k, h))
		}
		p.butterfly(z, func(int, int, int) {})
	}
	p.op("ADD $%d, R0, R0", 64*radix)
	p.op("SUBS $1, R1, R1")
	p.op("BNE block")
	p.op("RET")
}

func soundSplit(p *program) {
	p.function("splitPower is what split does for k from 1 to n.", "splitPower", 0, "power", "z", "places", "twist", "m", "n")
	p.op("ADD R4<<2, R2, R6") // places from the other end
	p.op("ADD R4<<5, R0, R7") // powers from the other end
	p.label("k")
	p.op("MOVW.W 4(R2), R10")
	p.op("MOVW.W -4(R6), R11")
	p.op("ADD R1, R10, R10")
	p.op("ADD R1, R11, R11")
	p.op("ADD $32, R0, R0")
	p.op("SUB $32, R7, R7")
	p.vec("ldr q20, [x3, #16]!")
	p.vec("fneg v21.2d, v20.2d")
	for h := range 2 {
		p.loadNumber(0, 1, halfAt(10, 0, h))
		p.loadNumber(2, 3, halfAt(11, 0, h))
		p.binary("fsub", 4, 0, 2) // the difference
		p.binary("fadd", 5, 1, 3)
		p.binary("fadd", 6, 0, 2) // the even part
		p.binary("fsub", 7, 1, 3)
		p.by("fmul", 8, 4, 20, 1) // the odd part
		p.by("fmul", 9, 4, 21, 0)
		p.by("fmla", 8, 5, 20, 0)
		p.by("fmla", 9, 5, 20, 1)
		for i, op := range []string{"fadd", "fsub"} {
			for part := range 2 {
				v := 10 + part
				p.binary(op, v, 6+part, 8+part)
				p.vec("fcvtn v%d.2s, v%d.2d", v, v) // as complex64
				p.vec("fcvtl v%d.2d, v%d.2s", v, v)
			}
			p.binary("fmul", 12, 10, 10)
			p.binary("fmla", 12, 11, 11)
			p.vec("str q12, [x%d, #%d]", []int{0, 7}[i], 16*h)
		}
	}
	p.op("SUBS $1, R5, R5")
	p.op("BNE k")
	p.op("RET")
}

func soundWindows(p *program) {
	p.function("windows4 multiplies n times four samples of four frames.", "windows4", 0, "dst", "a", "b", "c", "d", "window", "n")
	p.label("samples")
	p.vec("ldp q20, q21, [x5], #32")
	for f := range 4 {
		p.vec("ldr q%d, [x%d], #16", f, f+1)
		p.vec("fcvtl v%d.2d, v%d.2s", 4+2*f, f)
		p.vec("fcvtl2 v%d.2d, v%d.4s", 5+2*f, f)
		p.binary("fmul", 4+2*f, 4+2*f, 20)
		p.binary("fmul", 5+2*f, 5+2*f, 21)
	}
	for pair := range 2 { // of samples
		for i, op := range []string{"zip1", "zip2"} {
			p.binary(op, 16+2*i, 4+pair, 6+pair)
			p.binary(op, 17+2*i, 8+pair, 10+pair)
		}
		p.vec("stp q16, q17, [x0], #32")
		p.vec("stp q18, q19, [x0], #32")
	}
	p.op("SUBS $1, R6, R6")
	p.op("BNE samples")
	p.op("RET")
}

func soundSums(p *program) {
	p.function("sums is Sum of n filters.", "sums", 0, "dst", "power", "spans", "weights", "n")
	p.label("filter")
	p.op("MOVW.P 4(R2), R5")
	p.op("MOVW.P 4(R2), R6")
	p.op("ADD R5<<5, R1, R5")
	p.vec("movi v0.2d, #0")
	p.vec("movi v1.2d, #0")
	p.op("CBZ R6, none")
	p.label("weight")
	p.vec("ld1r {v2.2d}, [x3], #8")
	p.vec("ldp q3, q4, [x5], #32")
	p.binary("fmla", 0, 3, 2)
	p.binary("fmla", 1, 4, 2)
	p.op("SUBS $1, R6, R6")
	p.op("BNE weight")
	p.label("none")
	p.vec("stp q0, q1, [x0], #32")
	p.op("SUBS $1, R4, R4")
	p.op("BNE filter")
	p.op("RET")
}

func soundLogs(p *program) {
	p.function("logs is Logs of n values. If it is not usual, there are numbers for which math.Log is wanted, and dst is undefined.",
		"logs", 3*8+1, "dst", "src", "n")
	const floor, offset, factor, smallest, infinite, root, one, two, ln2, l = 16, 17, 18, 19, 20, 21, 22, 23, 24, 24 // l1 is 25
	p.float(floor, "floor", 24, 8)
	p.float(offset, "offset", 32, 8)
	p.float(factor, "factor", 40, 8)
	p.words64(smallest, 0x0010000000000000)
	p.words64(infinite, 0x7ff0000000000000)
	p.words64(root, 0x3fe6a09e667f3bcd)
	p.words64(one, math.Float64bits(1))
	p.words64(two, math.Float64bits(2))
	p.words64(ln2, math.Float64bits(math.Ln2))
	for k, x := range []float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01} {
		p.words64(l+1+k, math.Float64bits(x))
	}
	p.vec("movi v15.16b, #255") // all are usual
	p.label("value")
	p.vec("ldp q0, q1, [x1], #32")
	for h := range 2 {
		const bits, k, t, s, s2, s4, odd, even = 2, 3, 4, 5, 6, 7, 8, 9
		x := h
		p.binary("fmax", x, x, floor)
		p.binary("fadd", x, x, offset)
		p.binary("fcmge", t, x, smallest)
		p.vec("and v15.16b, v15.16b, v%d.16b", t)
		p.binary("fcmgt", t, infinite, x)
		p.vec("and v15.16b, v15.16b, v%d.16b", t)
		p.binary("sub", bits, x, root)
		p.vec("sshr v%d.2d, v%d.2d, #52", k, bits)
		p.vec("shl v%d.2d, v%d.2d, #52", t, k)
		p.vec("scvtf v%d.2d, v%d.2d", k, k)
		p.binary("sub", x, x, t)
		p.binary("fsub", x, x, one)
		p.binary("fadd", t, x, two)
		p.binary("fdiv", s, x, t)
		p.binary("fmul", s2, s, s)
		p.binary("fmul", s4, s2, s2)
		// series is l[a] + s4·(l[a+2] + …).
		series := func(to, a, last int) {
			sum := l + last
			for i := last - 2; i >= a; i -= 2 {
				next := to + (i-a)/2%2*2 // to in the end
				p.move(next, l+i)
				p.binary("fmla", next, sum, s4)
				sum = next
			}
		}
		series(odd, 1, 7)
		series(even, 2, 6)
		p.move(12, two)
		p.binary("fmla", 12, odd, s2)
		p.binary("fmla", 12, even, s4)
		p.binary("fmul", 12, s, 12)
		p.binary("fmla", 12, k, ln2)
		p.binary("fmul", 12, 12, factor)
		p.vec("fcvtn%s v13.%s, v12.2d", []string{"", "2"}[h], []string{"2s", "4s"}[h])
	}
	p.vec("str q13, [x0], #16")
	p.op("SUBS $1, R2, R2")
	p.op("BNE value")
	p.vec("umov x10, v15.d[0]")
	p.vec("umov x11, v15.d[1]")
	p.op("AND R10, R11, R10")
	p.op("AND $1, R10, R10")
	p.op("MOVB R10, usual+48(FP)")
	p.op("RET")
}

func soundGreatest(p *program) {
	p.function("greatest8 is the greatest of n times eight numbers, if numbers says that all are.", "greatest8", 5, "x", "n")
	p.vec("ldr q0, [x0]")
	p.vec("movi v1.16b, #255")
	p.label("numbers")
	p.vec("ldp q2, q3, [x0], #32")
	for _, v := range []int{2, 3} {
		p.vec("fmax v0.4s, v0.4s, v%d.4s", v)
		p.vec("fcmeq v%d.4s, v%d.4s, v%d.4s", v, v, v) // not if it is no number
		p.vec("and v1.16b, v1.16b, v%d.16b", v)
	}
	p.op("SUBS $1, R1, R1")
	p.op("BNE numbers")
	p.vec("fmaxv s0, v0.4s")
	p.op("FMOVS F0, greatest+16(FP)")
	p.vec("uminv s1, v1.4s")
	p.vec("umov w10, v1.s[0]")
	p.op("AND $1, R10, R10")
	p.op("MOVB R10, numbers+20(FP)")
	p.op("RET")
}

func soundLevel(p *program) {
	p.function("level8 is Level of n times eight numbers.", "level8", 12, "x", "n")
	for k, name := range []string{"least", "mean", "std"} {
		p.float(4+k, name, 16+4*k, 4)
	}
	p.label("level")
	p.vec("ldp q0, q1, [x0]")
	for v := range 2 {
		p.vec("fmax v%d.4s, v%d.4s, v4.4s", v, v)
		p.vec("fsub v%d.4s, v%d.4s, v5.4s", v, v)
		p.vec("fdiv v%d.4s, v%d.4s, v6.4s", v, v)
	}
	p.vec("stp q0, q1, [x0], #32")
	p.op("SUBS $1, R1, R1")
	p.op("BNE level")
	p.op("RET")
}

func soundProduct(p *program) {
	p.function("product4 is Product of n times four numbers.", "product4", 8, "weights", "samples", "n")
	p.vec("movi v0.2d, #0")
	p.vec("movi v1.2d, #0")
	p.label("products")
	p.vec("ldr q2, [x0], #16")
	p.vec("ldr q3, [x1], #16")
	for i, suffix := range []string{"", "2"} {
		half := []string{"2s", "4s"}[i]
		p.vec("fcvtl%s v4.2d, v2.%s", suffix, half)
		p.vec("fcvtl%s v5.2d, v3.%s", suffix, half)
		p.binary("fmul", 4, 4, 5)
		p.binary("fadd", i, i, 4)
	}
	p.op("SUBS $1, R2, R2")
	p.op("BNE products")
	p.binary("fadd", 0, 0, 1)
	p.vec("faddp d0, v0.2d")
	p.op("FMOVD F0, ret+24(FP)")
	p.op("RET")
}
