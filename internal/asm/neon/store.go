package main

import "math"

// A format is what normalised values are stored as.
type format struct {
	name, plane string // of the functions
	rounded     string // for the comment
}

var (
	toFloat32  = format{"store8", "storePlane8", ""}
	toFloat16  = format{"storeFloat16", "storePlaneFloat16", " rounded to float16"}
	toBFloat16 = format{"storeBFloat16", "storePlaneBFloat16", " rounded to bfloat16, ties away from 0"}
)

func (f format) doc(what string) string {
	return what + ", as (x/255 - mean)/std" + f.rounded + ". inverse is 1/std."
}

// store divides by multiplying with the reciprocal and correcting the quotient
// by its remainder, as the AVX2 kernel does.
func store(p *program, f format) {
	p.function(f.doc(f.name+" writes n times eight pixels to three planes"),
		f.name, 0, "red", "green", "blue", "src", "n", "mean", "std", "inverse")
	constants(p, f)
	for c := range 3 {
		for i, param := range []int{5, 6, 7} {
			p.vec("ld1r {v%d.4s}, [x%d], #4", 16+3*c+i, param)
		}
	}
	p.label("pixels")
	p.vec("ld4 {v0.8b-v3.8b}, [x3], #32")
	for c := range 3 {
		normalise(p, c, 16+3*c)
		write(p, f, c)
	}
	p.op("SUBS $1, R4, R4")
	p.op("BNE pixels")
	p.op("RET")
}

func storePlane(p *program, f format) {
	p.function(f.doc(f.plane+" writes n times eight samples of one channel"),
		f.plane, 0, "dst", "src", "n", "mean", "std", "inverse")
	constants(p, f)
	for i := range 3 {
		p.vec("ld1r {v%d.4s}, [x%d]", 16+i, 3+i)
	}
	p.label("samples")
	p.vec("ldr d0, [x1], #8")
	normalise(p, 0, 16)
	write(p, f, 0)
	p.op("SUBS $1, R2, R2")
	p.op("BNE samples")
	p.op("RET")
}

// constants fills v30 with 255 and v31 with 1/255, and for bfloat16 v29 with half
// a unit.
func constants(p *program, f format) {
	p.words(30, math.Float32bits(255))
	p.words(31, math.Float32bits(1.0/255))
	if f == toBFloat16 {
		p.words(29, 1<<15)
	}
}

// write stores the eight values of v6 and v7, which are no NaNs, at x[to], and
// moves x[to] on. It spends v6 and v7.
func write(p *program, f format, to int) {
	switch f {
	case toFloat32:
		p.vec("stp q6, q7, [x%d], #32", to)
	case toFloat16: // rounds to nearest even, Go's mode
		p.vec("fcvtn v6.4h, v6.4s")
		p.vec("fcvtn2 v6.8h, v7.4s")
		p.vec("str q6, [x%d], #16", to)
	case toBFloat16: // rounds ties up: the caller looks whether there are any
		for i := range 2 {
			p.vec("add v%d.4s, v%d.4s, v29.4s", 6+i, 6+i)
		}
		p.vec("uzp2 v6.8h, v6.8h, v7.8h") // the upper halves
		p.vec("str q6, [x%d], #16", to)
	}
}

// normalise turns the eight bytes of v[x] into (x/255 - mean)/std in v6 and v7.
// The mean, the deviation and its inverse are in v[params] and the two after it.
func normalise(p *program, x, params int) {
	p.vec("ushll v4.8h, v%d.8b, #0", x)
	p.vec("ushll2 v5.4s, v4.8h, #0")
	p.vec("ushll v4.4s, v4.4h, #0")
	for i := range 2 {
		x, q := 4+i, 6+i
		p.vec("ucvtf v%d.4s, v%d.4s", x, x)
		p.vec("fmul v%d.4s, v%d.4s, v31.4s", q, x)
		p.vec("fmls v%d.4s, v%d.4s, v30.4s", x, q)
		p.vec("fmla v%d.4s, v%d.4s, v31.4s", q, x)
		p.vec("fsub v%d.4s, v%d.4s, v%d.4s", x, q, params)
		p.vec("fmul v%d.4s, v%d.4s, v%d.4s", q, x, params+2)
		p.vec("fmls v%d.4s, v%d.4s, v%d.4s", x, q, params+1)
		p.vec("fmla v%d.4s, v%d.4s, v%d.4s", q, x, params+2)
	}
}
