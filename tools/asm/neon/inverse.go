package main

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

// weights are the factors of the transform, in the order of v0 and v1.
var weights = [16]int16{
	fix0541 + fix0765, fix0541, fix0541 - fix1847,
	fix1175 - fix1961, fix1175, fix1175 - fix0390,
	fix0298 - fix0899, -fix0899, fix1501 - fix0899,
	fix2053 - fix2562, -fix2562, fix3072 - fix2562,
}

// inputs and outputs are the vector registers of a 1-D transform's eight rows.
var (
	inputs  = [8]int{16, 17, 18, 19, 20, 21, 22, 23}
	outputs = [8]int{28, 29, 30, 31, 12, 13, 14, 15}
)

func inverse(p *program) {
	p.function("inverse2 writes the samples of two neighbouring blocks. It reports false, and writes\n"+
		"// nothing, if a value in a block's first row is beyond ±8191, which no real image has.",
		"inverse2", 1, "dst", "stride", "blocks", "quant")
	p.vec("ldr q4, [x2]")
	p.vec("ldr q5, [x2, #128]")
	p.vec("ldr q6, [x3]")
	for i := range 2 {
		p.vec("mul v%d.8h, v%d.8h, v6.8h", 4+i, 4+i)
		p.vec("abs v%d.8h, v%d.8h", 4+i, 4+i) // -32768 stays, and is large as an unsigned number
	}
	p.vec("umax v4.8h, v4.8h, v5.8h")
	p.vec("umaxv h4, v4.8h")
	p.vec("umov w4, v4.h[0]")
	p.op("CMPW $8191, R4")
	p.op("BHI wild")
	for i := range 4 {
		var v uint64
		for j := range 4 {
			v |= uint64(uint16(weights[4*i+j])) << (16 * j)
		}
		p.op("MOVD $%#x, R15", v)
		p.vec("mov v%d.d[%d], x15", i/2, i%2)
	}
	p.words(2, 1<<10)
	p.words(3, 1<<17)
	p.op("MOVD $2, R5")

	p.label("block")
	p.op("MOVD R3, R6")
	p.op("MOVD R0, R7")
	p.vec("ld1 {v16.8h-v19.8h}, [x2], #64")
	p.vec("ld1 {v20.8h-v23.8h}, [x2], #64")
	p.vec("ld1 {v4.8h-v7.8h}, [x6], #64")
	p.vec("ld1 {v8.8h-v11.8h}, [x6]")
	for i, in := range inputs {
		p.vec("mul v%d.8h, v%d.8h, v%d.8h", in, in, 4+i)
	}
	transform(p, "sqshrn", 11, 2)
	transpose(p)
	transform(p, "shrn", 16, 3) // 2 more bits are shifted out below
	transpose(p)
	p.vec("movi v4.8b, #128")
	for _, row := range inputs {
		p.vec("sqshrn v5.8b, v%d.8h, #2", row)
		p.vec("eor v5.8b, v5.8b, v4.8b")
		p.vec("st1 {v5.8b}, [x7], x1")
	}
	p.op("ADD $8, R0, R0")
	p.op("SUBS $1, R5, R5")
	p.op("BNE block")
	p.op("MOVD $1, R4")
	p.op("MOVB R4, ret+32(FP)")
	p.op("RET")
	p.label("wild")
	p.op("MOVB ZR, ret+32(FP)")
	p.op("RET")
}

// transform computes eight 1-D transforms at once, from inputs to outputs.
func transform(p *program, narrow string, shift, round int) {
	in := inputs
	p.vec("add v24.8h, v%d.8h, v%d.8h", in[7], in[3])
	p.vec("add v25.8h, v%d.8h, v%d.8h", in[5], in[1])
	p.vec("add v26.8h, v%d.8h, v%d.8h", in[0], in[4])
	p.vec("sub v27.8h, v%d.8h, v%d.8h", in[0], in[4])
	for h, suffix := range []string{"", "2"} {
		half := []string{"4h", "8h"}[h]
		// product leaves a·weights[i] + b·weights[j] in v[to].
		product := func(to, a, i, b, j int) {
			p.vec("smull%s v%d.4s, v%d.%s, v%d.h[%d]", suffix, to, a, half, i/8, i%8)
			p.vec("smlal%s v%d.4s, v%d.%s, v%d.h[%d]", suffix, to, b, half, j/8, j%8)
		}
		product(4, in[2], 0, in[6], 1)
		product(5, in[2], 1, in[6], 2)
		for i := range 2 {
			p.vec("sshll%s v%d.4s, v%d.%s, #13", suffix, 6+i, 26+i, half)
			p.vec("add v%d.4s, v%d.4s, v%d.4s", 6+i, 6+i, round)
		}
		p.vec("add v8.4s, v6.4s, v4.4s") // the even parts 0 to 3 are in v8 to v11
		p.vec("add v9.4s, v7.4s, v5.4s")
		p.vec("sub v10.4s, v7.4s, v5.4s")
		p.vec("sub v11.4s, v6.4s, v4.4s")

		product(4, 24, 3, 25, 4)
		product(5, 24, 4, 25, 5)
		// Outputs i and 7-i are the even part plus and minus the odd one.
		both := func(i, rest int) {
			p.vec("add v6.4s, v6.4s, v%d.4s", rest)
			p.vec("add v7.4s, v%d.4s, v6.4s", 8+i)
			p.vec("%s%s v%d.%s, v7.4s, #%d", narrow, suffix, outputs[i], half, shift)
			p.vec("sub v7.4s, v%d.4s, v6.4s", 8+i)
			p.vec("%s%s v%d.%s, v7.4s, #%d", narrow, suffix, outputs[7-i], half, shift)
		}
		product(6, in[7], 7, in[1], 8)
		both(0, 5)
		product(6, in[5], 10, in[3], 11)
		both(1, 4)
		product(6, in[5], 9, in[3], 10)
		both(2, 5)
		product(6, in[7], 6, in[1], 7)
		both(3, 4)
	}
}

// transpose moves the 8×8 words of outputs, transposed, to inputs. It overwrites v4
// to v11.
func transpose(p *program) {
	in, out := inputs, outputs
	for i := 0; i < 8; i += 2 {
		p.vec("trn1 v%d.8h, v%d.8h, v%d.8h", in[i], out[i], out[i+1])
		p.vec("trn2 v%d.8h, v%d.8h, v%d.8h", in[i+1], out[i], out[i+1])
	}
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			p.vec("trn1 v%d.4s, v%d.4s, v%d.4s", 4+i+j, in[i+j], in[i+j+2])
			p.vec("trn2 v%d.4s, v%d.4s, v%d.4s", 4+i+j+2, in[i+j], in[i+j+2])
		}
	}
	for i := range 4 {
		p.vec("trn1 v%d.2d, v%d.2d, v%d.2d", in[i], 4+i, 8+i)
		p.vec("trn2 v%d.2d, v%d.2d, v%d.2d", in[i+4], 4+i, 8+i)
	}
}
