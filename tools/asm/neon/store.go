package main

import "math"

// part is 1/255, rounded.
const part = float32(1.0 / 255)

// store divides by multiplying with the reciprocal of 48 bits, as the AVX2 kernel does.
func store(p *program) {
	p.function("store8 writes n times eight pixels to three planes, as (x/255 - mean)/std. inverse + low is 1/std.",
		"store8", 0, "red", "green", "blue", "src", "n", "mean", "inverse", "low")
	constants(p)
	for c := range 3 {
		for i, param := range []int{5, 6, 7} {
			p.vec("ld1r {v%d.4s}, [x%d], #4", 16+3*c+i, param)
		}
	}
	p.label("pixels")
	p.vec("ld4 {v0.8b-v3.8b}, [x3], #32")
	for c := range 3 {
		normalise(p, c, 16+3*c)
		p.vec("stp q6, q7, [x%d], #32", c)
	}
	p.op("SUBS $1, R4, R4")
	p.op("BNE pixels")
	p.op("RET")
}

func storePlane(p *program) {
	p.function("storePlane8 writes n times eight samples of one channel, as (x/255 - mean)/std. inverse + low is 1/std.",
		"storePlane8", 0, "dst", "src", "n", "mean", "inverse", "low")
	constants(p)
	for i := range 3 {
		p.vec("ld1r {v%d.4s}, [x%d]", 16+i, 3+i)
	}
	p.label("samples")
	p.vec("ldr d0, [x1], #8")
	normalise(p, 0, 16)
	p.vec("stp q6, q7, [x0], #32")
	p.op("SUBS $1, R2, R2")
	p.op("BNE samples")
	p.op("RET")
}

func interleaveBytes(p *program) {
	p.function("interleaveBytes writes n times eight pixels of three bytes, and overwrites up to eight bytes after them. Order says which of\n// the 16 bytes of four pixels the twelve are, and is 0xff after them.",
		"interleaveBytes", 0, "dst", "src", "n", "order")
	p.vec("ldr q2, [x3]")
	p.label("pixels")
	p.vec("ldp q0, q1, [x1], #32")
	p.vec("tbl v0.16b, {v0.16b}, v2.16b")
	p.vec("tbl v1.16b, {v1.16b}, v2.16b")
	p.vec("str q0, [x0], #12")
	p.vec("str q1, [x0], #12")
	p.op("SUBS $1, R2, R2")
	p.op("BNE pixels")
	p.op("RET")
}

func separateBytes(p *program) {
	p.function("separateBytes writes n times 32 bytes of one colour, whose places in 16 pixels of four bytes are the order.",
		"separateBytes", 0, "dst", "src", "n", "order")
	p.vec("ldr q16, [x3]")
	p.label("samples")
	p.vec("ld1 {v0.16b-v3.16b}, [x1], #64")
	p.vec("ld1 {v4.16b-v7.16b}, [x1], #64")
	p.vec("tbl v0.16b, {v0.16b-v3.16b}, v16.16b")
	p.vec("tbl v1.16b, {v4.16b-v7.16b}, v16.16b")
	p.vec("stp q0, q1, [x0], #32")
	p.op("SUBS $1, R2, R2")
	p.op("BNE samples")
	p.op("RET")
}

// constants fills v31 with 1/255, rounded, and v30 with the rest of it.
func constants(p *program) {
	p.words(30, math.Float32bits(float32(1.0/255-float64(part))))
	p.words(31, math.Float32bits(part))
}

// normalise turns the eight bytes of v[x] into (x/255 - mean)/std in v6 and v7.
// The mean and the two parts of 1/std are in v[params] and the two after it.
func normalise(p *program, x, params int) {
	p.vec("ushll v4.8h, v%d.8b, #0", x)
	p.vec("ushll2 v5.4s, v4.8h, #0")
	p.vec("ushll v4.4s, v4.4h, #0")
	for i := range 2 {
		x, q := 4+i, 6+i
		p.vec("ucvtf v%d.4s, v%d.4s", x, x)
		p.vec("fmul v%d.4s, v%d.4s, v30.4s", q, x)
		p.vec("fmla v%d.4s, v%d.4s, v31.4s", q, x)
		p.vec("fsub v%d.4s, v%d.4s, v%d.4s", x, q, params)
		p.vec("fmul v%d.4s, v%d.4s, v%d.4s", q, x, params+2)
		p.vec("fmla v%d.4s, v%d.4s, v%d.4s", q, x, params+1)
	}
}
