package main

// bits is the number of fraction bits of a weight.
const bits = 22

// spread fills v24 to v27 with lookup tables. Table i extends the four bytes of pixel
// i of a register to four words. An index beyond the register gives zero.
func spread(p *program) {
	for i := range uint64(4) {
		at := 4 * i
		p.table(24+int(i), 0xffffff00ffffff00+at+(at+1)<<32, 0xffffff00ffffff00+at+2+(at+3)<<32)
	}
}

func horizontal(p *program) {
	p.function("horizontal4 computes n pixels of four rows. Weights come in groups of four taps.",
		"horizontal4", 0, "dst", "src", "dstStride", "srcStride", "first", "n", "k", "groups")
	spread(p)
	p.words(28, 1<<(bits-1))
	p.op("ADD R2<<1, R0, R8")
	p.op("ADD R3<<1, R1, R9")
	p.label("pixel")
	p.op("MOVW.P 4(R4), R10")
	p.op("ADD R10<<2, R1, R11") // row 0
	p.op("ADD R3, R11, R12")    // row 1
	p.op("ADD R10<<2, R9, R13") // row 2
	p.op("ADD R3, R13, R14")    // row 3
	for r := range 4 {
		p.vec("mov v%d.16b, v28.16b", r)
	}
	p.op("MOVD R7, R10")
	p.label("taps")
	p.vec("ldr q4, [x6], #16")
	for r := range 4 {
		p.vec("ldr q%d, [x%d], #16", 16+r, 11+r)
	}
	for tap := range 4 {
		for r := range 4 {
			p.vec("tbl v%d.16b, {v%d.16b}, v%d.16b", 20+r, 16+r, 24+tap)
		}
		for r := range 4 {
			p.vec("mla v%d.4s, v%d.4s, v4.s[%d]", r, 20+r, tap)
		}
	}
	p.op("SUBS $1, R10, R10")
	p.op("BNE taps")
	for r := range 4 {
		p.vec("sshr v%d.4s, v%d.4s, #%d", r, r, bits)
	}
	p.vec("uzp1 v0.8h, v0.8h, v1.8h")
	p.vec("uzp1 v2.8h, v2.8h, v3.8h")
	p.vec("sqxtun v0.8b, v0.8h")
	p.vec("sqxtun v2.8b, v2.8h")
	p.op("ADD R2, R0, R10")
	p.op("ADD R2, R8, R11")
	p.vec("st1 {v0.s}[0], [x0], #4")
	p.vec("st1 {v0.s}[1], [x10]")
	p.vec("st1 {v2.s}[0], [x8], #4")
	p.vec("st1 {v2.s}[1], [x11]")
	p.op("SUBS $1, R5, R5")
	p.op("BNE pixel")
	p.op("RET")
}

func vertical(p *program) {
	p.function("vertical8 computes n times eight pixels of a row from as many rows as there are taps.",
		"vertical8", 0, "dst", "src", "stride", "n", "k", "taps")
	spread(p)
	p.words(28, 1<<(bits-1))
	p.label("block")
	for i := range 8 {
		p.vec("mov v%d.16b, v28.16b", i)
	}
	p.op("MOVD R1, R8")
	p.op("MOVD R4, R9")
	p.op("MOVD R5, R10")
	p.label("rows")
	p.vec("ld1r {v29.4s}, [x9], #4")
	p.vec("ldp q30, q31, [x8]")
	p.op("ADD R2, R8, R8")
	for i := range 8 {
		p.vec("tbl v%d.16b, {v%d.16b}, v%d.16b", 16+i, 30+i/4, 24+i%4)
	}
	for i := range 8 {
		p.vec("mla v%d.4s, v%d.4s, v29.4s", i, 16+i)
	}
	p.op("SUBS $1, R10, R10")
	p.op("BNE rows")
	for i := range 8 {
		p.vec("sshr v%d.4s, v%d.4s, #%d", i, i, bits)
	}
	for i := 0; i < 8; i += 2 {
		p.vec("uzp1 v%d.8h, v%d.8h, v%d.8h", i, i, i+1)
	}
	for i := 0; i < 8; i += 4 {
		p.vec("sqxtun v%d.8b, v%d.8h", i, i)
		p.vec("sqxtun2 v%d.16b, v%d.8h", i, i+2)
	}
	p.vec("stp q0, q4, [x0], #32")
	p.op("ADD $32, R1, R1")
	p.op("SUBS $1, R3, R3")
	p.op("BNE block")
	p.op("RET")
}
