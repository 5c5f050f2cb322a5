package main

// A halfFormat is float16 or bfloat16.
type halfFormat struct {
	name, plane string // of the functions
	rounding    string // for the comment
}

var (
	float16  = halfFormat{"storeFloat16", "storePlaneFloat16", "float16"}
	bfloat16 = halfFormat{"storeBFloat16", "storePlaneBFloat16", "bfloat16, ties away from 0"}
)

func (f halfFormat) doc(what string) string {
	return what + ", as x·scale + shift rounded to " + f.rounding + "."
}

// storeHalves takes the pixels in steps of eight.
func storeHalves(p *program, f halfFormat) {
	p.function(f.doc(f.name+" writes n times 16 pixels to three planes"),
		f.name, 0, "red", "green", "blue", "src", "n", "scale", "shift")
	p.words(29, 1<<15)
	for c := range 3 {
		p.vec("ld1r {v%d.4s}, [x5], #4", 16+2*c)
		p.vec("ld1r {v%d.4s}, [x6], #4", 17+2*c)
	}
	p.op("LSL $1, R4")
	p.label("pixels")
	p.vec("ld4 {v0.8b-v3.8b}, [x3], #32")
	for c := range 3 {
		affine(p, c, 16+2*c)
		writeHalves(p, f, c)
	}
	p.op("SUBS $1, R4, R4")
	p.op("BNE pixels")
	p.op("RET")
}

func storeHalfPlane(p *program, f halfFormat) {
	p.function(f.doc(f.plane+" writes n times 16 samples of one channel"),
		f.plane, 0, "dst", "src", "n", "scale", "shift")
	p.words(29, 1<<15)
	p.vec("ld1r {v16.4s}, [x3]")
	p.vec("ld1r {v17.4s}, [x4]")
	p.op("LSL $1, R2")
	p.label("samples")
	p.vec("ldr d0, [x1], #8")
	affine(p, 0, 16)
	writeHalves(p, f, 0)
	p.op("SUBS $1, R2, R2")
	p.op("BNE samples")
	p.op("RET")
}

// affine turns the eight bytes of v[x] into x·scale + shift in v6 and v7. The scale is in
// v[params], and the shift in the register after it.
func affine(p *program, x, params int) {
	p.vec("ushll v4.8h, v%d.8b, #0", x)
	p.vec("ushll2 v5.4s, v4.8h, #0")
	p.vec("ushll v4.4s, v4.4h, #0")
	for i := range 2 {
		x, sum := 4+i, 6+i
		p.vec("ucvtf v%d.4s, v%d.4s", x, x)
		p.vec("mov v%d.16b, v%d.16b", sum, params+1)
		p.vec("fmla v%d.4s, v%d.4s, v%d.4s", sum, x, params)
	}
}

// writeHalves stores the eight values of v6 and v7 at x[to], and moves x[to] on. It
// spends v6 and v7.
func writeHalves(p *program, f halfFormat, to int) {
	if f == float16 { // rounds to nearest even, Go's mode
		p.vec("fcvtn v6.4h, v6.4s")
		p.vec("fcvtn2 v6.8h, v7.4s")
	} else { // rounds ties up
		p.vec("add v6.4s, v6.4s, v29.4s")
		p.vec("add v7.4s, v7.4s, v29.4s")
		p.vec("uzp2 v6.8h, v6.8h, v7.8h") // the upper halves
	}
	p.vec("str q6, [x%d], #16", to)
}
