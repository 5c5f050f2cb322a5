package main

// color computes with words, and with the portable code's 16 bits of fraction:
// 1.402 = 1 + 26345/65536, 1.772 = 2 - 14942/65536 and 0.714 = 1 - 18734/65536.
func color(p *program) {
	p.function("colorYCbCr16 converts 16·n pixels.", "colorYCbCr16", 0, "dst", "luma", "cb", "cr", "n")
	p.table(0, 26345|(-14942&0xffff)<<16|18734<<32|(-22554&0xffff)<<48, 0)
	p.halves(1, 128)
	p.vec("movi v19.16b, #255")
	p.label("colors")
	for c := range 3 {
		p.vec("ldr q%d, [x%d], #16", 2+c, 1+c)
	}
	for h, suffix := range []string{"", "2"} {
		from := []string{"8b", "16b"}[h]
		to := from
		p.vec("uxtl%s v5.8h, v2.%s", suffix, from) // Y
		p.vec("uxtl%s v6.8h, v3.%s", suffix, from) // Cb
		p.vec("uxtl%s v7.8h, v4.%s", suffix, from) // Cr
		p.vec("sub v6.8h, v6.8h, v1.8h")
		p.vec("sub v7.8h, v7.8h, v1.8h")
		for i, part := range []string{"", "2"} {
			half := []string{"4h", "8h"}[i]
			p.vec("smull%s v20.4s, v7.%s, v0.h[0]", part, half)
			p.vec("smull%s v21.4s, v7.%s, v0.h[2]", part, half)
			p.vec("smlal%s v21.4s, v6.%s, v0.h[3]", part, half)
			p.vec("smull%s v22.4s, v6.%s, v0.h[1]", part, half)
			for c := range 3 {
				p.vec("rshrn%s v%d.%s, v%d.4s, #16", part, 24+c, half, 20+c)
			}
		}
		p.vec("add v24.8h, v24.8h, v7.8h")
		p.vec("sub v25.8h, v25.8h, v7.8h")
		p.vec("add v26.8h, v26.8h, v6.8h")
		p.vec("add v26.8h, v26.8h, v6.8h")
		for c := range 3 {
			p.vec("add v%d.8h, v%d.8h, v5.8h", 24+c, 24+c)
			p.vec("sqxtun%s v%d.%s, v%d.8h", suffix, 16+c, to, 24+c)
		}
	}
	p.vec("st4 {v16.16b-v19.16b}, [x0], #64")
	p.op("SUBS $1, R4, R4")
	p.op("BNE colors")
	p.op("RET")
}

// upsample doubles rows by the triangle filter, 16 samples at a time. Every sample
// has a neighbour on both sides.
func upsample(p *program) {
	p.function("upsampleH2x16 doubles the 16·n samples from src on.",
		"upsampleH2x16", 0, "dst", "src", "n")
	p.vec("movi v0.16b, #3")
	p.halves(1, 1)
	p.label("row")
	for i := range 3 { // before, here, after
		p.vec("ldur q%d, [x1, #%d]", 2+i, i-1)
	}
	p.op("ADD $16, R1, R1")
	for h, suffix := range []string{"", "2"} {
		from := []string{"8b", "16b"}[h]
		p.vec("umull%s v5.8h, v3.%s, v0.%s", suffix, from, from)
		p.vec("uaddw%s v6.8h, v5.8h, v2.%s", suffix, from)
		p.vec("uaddw%s v7.8h, v5.8h, v4.%s", suffix, from)
		p.vec("add v6.8h, v6.8h, v1.8h")
		p.vec("shrn%s v16.%s, v6.8h, #2", suffix, from)
		p.vec("rshrn%s v17.%s, v7.8h, #2", suffix, from)
	}
	p.vec("st2 {v16.16b-v17.16b}, [x0], #32")
	p.op("SUBS $1, R2, R2")
	p.op("BNE row")
	p.op("RET")

	p.function("upsampleH2V2x16 mixes and doubles the 16·n samples from near and from far on.",
		"upsampleH2V2x16", 0, "dst", "near", "far", "n")
	p.vec("movi v0.16b, #3")
	p.halves(1, 7)
	p.halves(2, 3)
	p.label("rows")
	for i := range 3 { // before, here, after
		p.vec("ldur q%d, [x1, #%d]", 4+i, i-1)
		p.vec("ldur q%d, [x2, #%d]", 20+i, i-1)
	}
	p.op("ADD $16, R1, R1")
	p.op("ADD $16, R2, R2")
	for h, suffix := range []string{"", "2"} {
		from := []string{"8b", "16b"}[h]
		for i := range 3 {
			p.vec("umull%s v%d.8h, v%d.%s, v0.%s", suffix, 24+i, 4+i, from, from)
			p.vec("uaddw%s v%d.8h, v%d.8h, v%d.%s", suffix, 24+i, 24+i, 20+i, from)
		}
		p.vec("mla v24.8h, v25.8h, v2.8h")
		p.vec("mla v26.8h, v25.8h, v2.8h")
		p.vec("add v26.8h, v26.8h, v1.8h")
		p.vec("rshrn%s v16.%s, v24.8h, #4", suffix, from)
		p.vec("shrn%s v17.%s, v26.8h, #4", suffix, from)
	}
	p.vec("st2 {v16.16b-v17.16b}, [x0], #32")
	p.op("SUBS $1, R3, R3")
	p.op("BNE rows")
	p.op("RET")
}
