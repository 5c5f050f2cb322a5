package jpeg

import "encoding/binary"

// A Block holds 8×8 quantised coefficients, row by row.
type Block = [64]int16

type block = Block

// Constants of the inverse DCT, scaled by 1<<13 (Loeffler, Ligtenberg and
// Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications",
// ICASSP 1989).
const (
	fix0298 = 2446  // 0.298631336
	fix0390 = 3196  // 0.390180644
	fix0541 = 4433  // 0.541196100
	fix0765 = 6270  // 0.765366865
	fix0899 = 7373  // 0.899976223
	fix1175 = 9633  // 1.175875602
	fix1501 = 12299 // 1.501321110
	fix1847 = 15137 // 1.847759065
	fix1961 = 16069 // 1.961570560
	fix2053 = 16819 // 2.053119869
	fix2562 = 20995 // 2.562915447
	fix3072 = 25172 // 3.072711026
)

// inverse writes the samples of a row of blocks, from left to right, into eight
// rows of dst. last[i] is the zigzag index of the last coefficient of block i that
// may differ from zero.
//
// The arithmetic is that of libjpeg's accurate integer method. Hostile
// coefficients can leave its range. Then sums of two inputs wrap at 16 bits and
// results saturate, as in libjpeg-turbo's vector code.
func inverse(dst []byte, stride int, blocks []block, last []uint8, quant *block) {
	if !inverseKernel(dst, stride, blocks, last, quant) {
		inversePortable(dst, stride, blocks, last, quant)
	}
}

func inversePortable(dst []byte, stride int, blocks []block, last []uint8, quant *block) {
	var work [64]int32
	for i := range blocks {
		switch b, out := &blocks[i], dst[8*i:]; {
		case last[i] == 0:
			inverseFlat(out, stride, b[0]*quant[0])
		case last[i] < 10: // the first ten in zigzag order are in the upper left quarter
			inverseColumns(&work, b, quant, 4)
			inverseRows4(out, stride, &work)
		default:
			inverseColumns(&work, b, quant, 8)
			inverseRows(out, stride, &work)
		}
	}
}

// inverseFlat fills a block that has only its DC coefficient.
func inverseFlat(dst []byte, stride int, dc int16) {
	v := uint64(sample((int32(dc<<2)+16)>>5)) * 0x0101010101010101
	for y := range 8 {
		binary.LittleEndian.PutUint64(dst[y*stride:], v)
	}
}

// inverseColumns transforms the first n columns. Their results have 2 bits of
// fraction.
func inverseColumns(work *[64]int32, b, quant *block, n int) {
	any := int32(0)
	for x := range n & 15 {
		x &= 7
		in0 := int32(b[x] * quant[x])
		in1 := int32(b[8+x] * quant[8+x])
		in2 := int32(b[16+x] * quant[16+x])
		in3 := int32(b[24+x] * quant[24+x])
		in4 := int32(b[32+x] * quant[32+x])
		in5 := int32(b[40+x] * quant[40+x])
		in6 := int32(b[48+x] * quant[48+x])
		in7 := int32(b[56+x] * quant[56+x])
		ac := in1 | in2 | in3 | in4 | in5 | in6 | in7
		any |= ac
		if ac == 0 {
			dc := narrow(in0 << 2)
			work[x], work[8+x], work[16+x], work[24+x] = dc, dc, dc, dc
			work[32+x], work[40+x], work[48+x], work[56+x] = dc, dc, dc, dc
			continue
		}

		z1 := (in2 + in6) * fix0541
		t2 := z1 - in6*fix1847
		t3 := z1 + in2*fix0765
		t0 := int32(int16(in0+in4))<<13 + 1<<10
		t1 := int32(int16(in0-in4))<<13 + 1<<10
		e0, e3 := t0+t3, t0-t3
		e1, e2 := t1+t2, t1-t2

		z3, z4 := int32(int16(in7+in3)), int32(int16(in5+in1))
		z5 := (z3 + z4) * fix1175
		z3, z4 = z5-z3*fix1961, z5-z4*fix0390
		z1 = (in7 + in1) * -fix0899
		z2 := (in5 + in3) * -fix2562
		o0 := in7*fix0298 + z1 + z3
		o1 := in5*fix2053 + z2 + z4
		o2 := in3*fix3072 + z2 + z3
		o3 := in1*fix1501 + z1 + z4

		work[x] = narrow((e0 + o3) >> 11)
		work[56+x] = narrow((e0 - o3) >> 11)
		work[8+x] = narrow((e1 + o2) >> 11)
		work[48+x] = narrow((e1 - o2) >> 11)
		work[16+x] = narrow((e2 + o1) >> 11)
		work[40+x] = narrow((e2 - o1) >> 11)
		work[24+x] = narrow((e3 + o0) >> 11)
		work[32+x] = narrow((e3 - o0) >> 11)
	}
	if any != 0 {
		return
	}
	for i := range work { // a block without vertical detail wraps at 16 bits
		work[i] = int32(b[i&7] * quant[i&7] << 2)
	}
}

// inverseRows transforms the rows of work into samples.
func inverseRows(dst []byte, stride int, work *[64]int32) {
	for y := range 8 {
		in := (*[8]int32)(work[8*y:])
		z1 := (in[2] + in[6]) * fix0541
		t2 := z1 - in[6]*fix1847
		t3 := z1 + in[2]*fix0765
		t0 := int32(int16(in[0]+in[4]))<<13 + 1<<17
		t1 := int32(int16(in[0]-in[4]))<<13 + 1<<17
		e0, e3 := t0+t3, t0-t3
		e1, e2 := t1+t2, t1-t2

		z3, z4 := int32(int16(in[7]+in[3])), int32(int16(in[5]+in[1]))
		z5 := (z3 + z4) * fix1175
		z3, z4 = z5-z3*fix1961, z5-z4*fix0390
		z1 = (in[7] + in[1]) * -fix0899
		z2 := (in[5] + in[3]) * -fix2562
		o0 := in[7]*fix0298 + z1 + z3
		o1 := in[5]*fix2053 + z2 + z4
		o2 := in[3]*fix3072 + z2 + z3
		o3 := in[1]*fix1501 + z1 + z4

		binary.LittleEndian.PutUint64(dst[y*stride:],
			sample((e0+o3)>>18)|sample((e1+o2)>>18)<<8|sample((e2+o1)>>18)<<16|sample((e3+o0)>>18)<<24|
				sample((e3-o0)>>18)<<32|sample((e2-o1)>>18)<<40|sample((e1-o2)>>18)<<48|sample((e0-o3)>>18)<<56)
	}
}

// inverseRows4 is inverseRows for rows whose last four values are zero.
func inverseRows4(dst []byte, stride int, work *[64]int32) {
	for y := range 8 {
		in := (*[4]int32)(work[8*y:])
		t := in[0]<<13 + 1<<17
		t2, t3 := in[2]*fix0541, in[2]*(fix0541+fix0765)
		e0, e3 := t+t3, t-t3
		e1, e2 := t+t2, t-t2

		o0 := in[1]*(fix1175-fix0899) + in[3]*(fix1175-fix1961)
		o1 := in[1]*(fix1175-fix0390) + in[3]*(fix1175-fix2562)
		o2 := in[1]*fix1175 + in[3]*(fix1175-fix1961+fix3072-fix2562)
		o3 := in[1]*(fix1175-fix0390+fix1501-fix0899) + in[3]*fix1175

		binary.LittleEndian.PutUint64(dst[y*stride:],
			sample((e0+o3)>>18)|sample((e1+o2)>>18)<<8|sample((e2+o1)>>18)<<16|sample((e3+o0)>>18)<<24|
				sample((e3-o0)>>18)<<32|sample((e2-o1)>>18)<<40|sample((e1-o2)>>18)<<48|sample((e0-o3)>>18)<<56)
	}
}

// narrow saturates at 16 bits.
func narrow(v int32) int32 {
	if v != int32(int16(v)) {
		return 0x7fff ^ v>>31
	}
	return v
}

// sample saturates at −128 and 127, and adds 128.
func sample(v int32) uint64 {
	v += 128
	if uint32(v) > 255 {
		return uint64(uint8(^v >> 31))
	}
	return uint64(v)
}
