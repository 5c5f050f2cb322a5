package main

// The layout of constants in internal/codec/blockcode.
const (
	constantsBytes = 64  // after the places in zigzag order
	constantsMasks = 128 // by length in bytes
)

// flatten turns the zero values' places into indices of escapes: a running sum counts them.
func flatten(p *program) {
	p.function("flatten16 unpacks n values, and takes an escape for each that is zero. It stops when it has\n"+
		"// taken more than most. It returns how many it took. It reads 7 bytes beyond the values and\n"+
		"// 16 beyond the escapes, and writes 15 elements beyond the last.",
		"flatten16", 8, "flat", "values", "n", "escapes", "most")
	p.vec("movi v20.16b, #15")
	p.table(21, 0x0706050403020100, 0x0f0e0d0c0b0a0908)
	p.vec("movi v25.16b, #0")
	p.op("MOVD $0, R5")

	p.label("values")
	p.vec("ldr d0, [x1], #8")
	p.vec("and v1.16b, v0.16b, v20.16b")
	p.vec("ushr v2.16b, v0.16b, #4")
	p.vec("zip1 v0.16b, v1.16b, v2.16b")
	p.vec("cmeq v1.16b, v0.16b, #0")
	p.op("CMP $16, R2")
	p.op("BGE full")
	p.vec("dup v2.16b, w2")
	p.vec("cmhi v2.16b, v2.16b, v21.16b")
	p.vec("and v1.16b, v1.16b, v2.16b")
	p.label("full")
	p.vec("mov v2.16b, v1.16b")
	for _, shift := range runningSum {
		p.vec("ext v3.16b, v25.16b, v2.16b, #%d", shift)
		p.vec("add v2.16b, v2.16b, v3.16b")
	}
	p.vec("smov x6, v2.b[15]")
	p.vec("and v2.16b, v2.16b, v1.16b")
	p.vec("mvn v2.16b, v2.16b")
	p.vec("ldr q3, [x3]")
	p.vec("tbl v3.16b, {v3.16b}, v2.16b")
	p.vec("shl v0.16b, v0.16b, #4")
	p.vec("sshr v0.16b, v0.16b, #4")
	p.vec("orr v0.16b, v0.16b, v3.16b")
	p.vec("str q0, [x0], #16")
	p.op("SUB R6, R3")
	p.op("SUB R6, R5")
	p.op("CMP R4, R5")
	p.op("BGT done")
	p.op("SUBS $16, R2, R2")
	p.op("BGT values")
	p.label("done")
	p.op("MOVD R5, ret+40(FP)")
	p.op("RET")
}

// runningSum has the bytes from which the steps of a running sum of 16 bytes take the
// vector, with zeros before it. The sum of masks of -1 is minus the number of lanes
// so far, and its complement the index of the lane's value.
var runningSum = [4]int{15, 14, 12, 8}

// expand moves the values of a block with three lookups: from bits of the mask to lanes,
// from the number of bits so far to a value, and out of zigzag order.
func expand(p *program) {
	p.function("expand16 fills n blocks, without patches, and returns all masks in one number. It reads 7\n"+
		"// bytes beyond the masks, 63 elements beyond flat and 2 bytes beyond wide.",
		"expand16", 8, "blocks", "last", "n", "lengths", "dcs", "masks", "flat", "wide", "constants")
	p.vec("ld1 {v16.16b-v19.16b}, [x8]")
	p.op("ADD $%d, R8, R9", constantsBytes)
	p.vec("ld1 {v20.16b-v23.16b}, [x9]")
	p.op("ADD $%d, R8", constantsMasks)
	p.table(24, 0x8040201008040201, 0x8040201008040201)
	p.vec("movi v25.16b, #0")
	p.op("MOVD $0, R19") // the DC coefficient
	p.op("MOVD $0, R20") // all masks

	p.label("blocks")
	p.op("MOVBU (R3), R10")
	p.op("AND $15, R10")
	expandBlock(p)
	p.op("SUBS $1, R2, R2")
	p.op("BEQ done")
	p.op("MOVBU.P 1(R3), R10")
	p.op("LSR $4, R10")
	expandBlock(p)
	p.op("SUBS $1, R2, R2")
	p.op("BNE blocks")
	p.label("done")
	p.op("MOVD R20, ret+72(FP)")
	p.op("RET")
}

// expandBlock fills a block whose mask has R10 bytes, and advances.
func expandBlock(p *program) {
	p.op("MOVD (R8)(R10<<3), R11")
	p.op("MOVD (R5), R12")
	p.op("AND R12, R11")
	p.op("ADD R10, R5")
	p.op("ORR R11, R20")
	p.op("LSL $1, R11") // without an invalid coefficient 64
	p.op("ORR $1, R11, R12")
	p.op("CLZ R12, R12")
	p.op("MOVD $63, R13")
	p.op("SUB R12, R13")
	p.op("MOVB.P R13, 1(R1)")

	p.vec("fmov d30, x11")
	p.vec("ld1 {v26.16b-v29.16b}, [x6]")
	quarters := func(format string, args func(q int) []any) {
		for q := range 4 {
			p.vec(format, args(q)...)
		}
	}
	quarters("tbl v%d.16b, {v30.16b}, v%d.16b", func(q int) []any { return []any{q, 20 + q} })
	quarters("cmtst v%d.16b, v%d.16b, v24.16b", func(q int) []any { return []any{q, q} })
	quarters("mov v%d.16b, v%d.16b", func(q int) []any { return []any{8 + q, q} })
	for _, shift := range runningSum {
		quarters("ext v%d.16b, v25.16b, v%d.16b, #%d", func(q int) []any { return []any{4 + q, 8 + q, shift} })
		quarters("add v%d.16b, v%d.16b, v%d.16b", func(q int) []any { return []any{8 + q, 8 + q, 4 + q} })
	}
	for q := 1; q < 4; q++ {
		p.vec("dup v4.16b, v%d.b[15]", 8+q-1)
		p.vec("add v%d.16b, v%d.16b, v4.16b", 8+q, 8+q)
	}
	p.vec("smov x12, v11.b[15]")
	quarters("and v%d.16b, v%d.16b, v%d.16b", func(q int) []any { return []any{8 + q, 8 + q, q} })
	quarters("mvn v%d.16b, v%d.16b", func(q int) []any { return []any{8 + q, 8 + q} })
	quarters("tbl v%d.16b, {v26.16b-v29.16b}, v%d.16b", func(q int) []any { return []any{q, 8 + q} })
	quarters("tbl v%d.16b, {v0.16b-v3.16b}, v%d.16b", func(q int) []any { return []any{4 + q, 16 + q} })
	for q := range 4 {
		p.vec("sshll v%d.8h, v%d.8b, #0", 8+2*q, 4+q)
		p.vec("sshll2 v%d.8h, v%d.16b, #0", 9+2*q, 4+q)
	}
	p.vec("st1 {v8.8h-v11.8h}, [x0], #64")
	p.vec("st1 {v12.8h-v15.8h}, [x0], #64")
	p.op("SUB R12, R6")

	p.op("MOVB.P 1(R4), R13")
	p.op("MOVH (R7), R14")
	p.op("ADD $2, R7, R15")
	p.op("CMPW $-128, R13")
	p.op("CSEL EQ, R14, R13, R13")
	p.op("CSEL EQ, R15, R7, R7")
	p.op("ADD R13, R19")
	p.op("MOVH R19, -128(R0)")
}
