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

// The filters that bring a component to full size are libjpeg's. For a factor of 2
// it is a triangle filter with weights of 3/4 and 1/4, which alternately rounds up
// and down. For all other factors samples are repeated.

// upsampleH2 doubles a row.
func upsampleH2(dst, src []byte) {
	if !upsampleH2Kernel(dst, src) {
		upsampleH2Portable(dst, src)
	}
}

func upsampleH2Portable(dst, src []byte) {
	n := len(src)
	dst = dst[:2*n]
	if n == 1 {
		dst[0], dst[1] = src[0], src[0]
		return
	}
	a, b := int32(src[0]), int32(src[1])
	dst[0] = uint8(a)
	dst[1] = uint8((3*a + b + 2) >> 2)
	for i := 1; i < n-1; i++ {
		c := int32(src[i+1])
		dst[2*i] = uint8((3*b + a + 1) >> 2)
		dst[2*i+1] = uint8((3*b + c + 2) >> 2)
		a, b = b, c
	}
	dst[2*n-2] = uint8((3*b + a + 1) >> 2)
	dst[2*n-1] = uint8(b)
}

// upsampleV2 makes an output row from the nearest row and the one next to it. The
// bias is 1 for the upper of two output rows and 2 for the lower.
func upsampleV2(dst, near, far []byte, bias int32) {
	far = far[:len(near)]
	dst = dst[:len(near)]
	for i, v := range near {
		dst[i] = uint8((3*int32(v) + int32(far[i]) + bias) >> 2)
	}
}

// upsampleH2V2 mixes two rows and doubles their length. It rounds once.
func upsampleH2V2(dst, near, far []byte) {
	if !upsampleH2V2Kernel(dst, near, far) {
		upsampleH2V2Portable(dst, near, far)
	}
}

func upsampleH2V2Portable(dst, near, far []byte) {
	n := len(near)
	far = far[:n]
	dst = dst[:2*n]
	a := 3*int32(near[0]) + int32(far[0])
	if n == 1 {
		dst[0], dst[1] = uint8((4*a+8)>>4), uint8((4*a+7)>>4)
		return
	}
	b := 3*int32(near[1]) + int32(far[1])
	dst[0] = uint8((4*a + 8) >> 4)
	dst[1] = uint8((3*a + b + 7) >> 4)
	for i := 1; i < n-1; i++ {
		c := 3*int32(near[i+1]) + int32(far[i+1])
		dst[2*i] = uint8((3*b + a + 8) >> 4)
		dst[2*i+1] = uint8((3*b + c + 7) >> 4)
		a, b = b, c
	}
	dst[2*n-2] = uint8((3*b + a + 8) >> 4)
	dst[2*n-1] = uint8((4*b + 7) >> 4)
}

// repeat writes every sample n times.
func repeat(dst, src []byte, n int) {
	for i, v := range src {
		part := dst[i*n : i*n+n]
		for j := range part {
			part[j] = v
		}
	}
}

// A filter brings a component to full resolution.
type filter uint8

const (
	filterNone filter = iota
	filterH2
	filterV2
	filterH2V2
	filterRepeat
)

// chooseFilter returns libjpeg's filter for a component with rows of wide samples.
// Rows become hx times as long, and columns vx times.
func chooseFilter(hx, vx, wide int) filter {
	switch {
	case hx == 1 && vx == 1:
		return filterNone
	case hx == 2 && vx == 1 && wide > 2:
		return filterH2
	case hx == 1 && vx == 2:
		return filterV2
	case hx == 2 && vx == 2 && wide > 2:
		return filterH2V2
	}
	return filterRepeat
}

// The conversions write len(dst)/4 pixels of 4 bytes. The fourth byte is 255.
//
// ITU-T T.871: R = Y + 1.402 Cr, G = Y − 0.344136 Cb − 0.714136 Cr,
// B = Y + 1.772 Cb. They round as libjpeg does, with 16 bits of fraction: red and
// blue before the sum, and green after it.
const (
	redCr   = 91881
	greenCb = 22554
	greenCr = 46802
	blueCb  = 116130
)

// A mix holds the three sums of a pixel in one integer: green with 16 bits of
// fraction from bit 0, red from bit 32 and blue from bit 48. mixBias is added to
// each, so that it stays positive. A sum is in the range 0 to 255 if neither of
// the two bits above its lowest eight is set.
const (
	mixBias   = 1 << 10
	mixLuma   = 1<<16 | 1<<32 | 1<<48
	mixBeyond = 3<<24 | 3<<40 | 3<<56
)

// mixCb and mixCr are what the chroma samples add to a mix.
var mixCb, mixCr = func() (cb, cr [256]uint64) {
	for i := range 256 {
		v := int64(i) - 128
		cb[i] = uint64(1<<15-greenCb*v+mixBias<<16) + uint64((blueCb*v+1<<15)>>16+mixBias)<<48
		cr[i] = uint64(-greenCr*v) + uint64((redCr*v+1<<15)>>16+mixBias)<<32
	}
	return cb, cr
}()

// colorYCbCr converts a row.
func colorYCbCr(dst, luma, cb, cr []byte) {
	if !colorKernel(dst, luma, cb, cr) {
		colorPortable(dst, luma, cb, cr)
	}
}

func colorPortable(dst, luma, cb, cr []byte) {
	n := len(dst) / 4
	luma, cb, cr = luma[:n], cb[:n], cr[:n]
	for i, v := range luma {
		mix := uint64(v)*mixLuma + mixCb[cb[i]] + mixCr[cr[i]]
		if mix&mixBeyond != 0 {
			mix = clampMix(mix)
		}
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(mix>>32)&0xff00ff|uint32(mix>>8)&0xff00|0xff<<24)
	}
}

// clampMix clamps each of a mix's sums.
func clampMix(mix uint64) uint64 {
	r := clamp(int32(mix>>32&0xffff) - mixBias)
	g := clamp(int32(mix>>16&0xffff) - mixBias)
	b := clamp(int32(mix>>48) - mixBias)
	return uint64(r)<<32 | uint64(g)<<16 | uint64(b)<<48
}

// colorRGB interleaves a row.
func colorRGB(dst, r, g, b []byte) {
	n := len(dst) / 4
	r, g, b = r[:n], g[:n], b[:n]
	for i, v := range r {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = v, g[i], b[i], 255
	}
}

// neutral has chroma samples of a row without colour.
var neutral = func() (row [1024]byte) {
	for i := range row {
		row[i] = 128
	}
	return row
}()

// colorGray repeats a row's samples.
func colorGray(dst, gray []byte) {
	gray = gray[:len(dst)/4]
	for len(gray) > 0 {
		n := min(len(gray), len(neutral))
		if !colorKernel(dst[:4*n], gray[:n], neutral[:n], neutral[:n]) {
			break
		}
		dst, gray = dst[4*n:], gray[n:]
	}
	for i, v := range gray {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = v, v, v, 255
	}
}

// colorFour interleaves a row of four components.
func colorFour(dst, a, b, c, d []byte) {
	n := len(dst) / 4
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i := range n {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = a[i], b[i], c[i], d[i]
	}
}

// colorCMYK converts a row of inverted inks. Adobe writes them so, and Pillow reads
// all files of four components so. By Pillow's formula a colour is ink·black/255,
// rounded.
func colorCMYK(dst, c, m, y, k []byte) {
	n := len(dst) / 4
	c, m, y, k = c[:n], m[:n], y[:n], k[:n]
	for i := range n {
		p := dst[4*i : 4*i+4 : 4*i+4]
		light := int32(k[i])
		p[0] = uint8(light - share(255-int32(c[i]), light))
		p[1] = uint8(light - share(255-int32(m[i]), light))
		p[2] = uint8(light - share(255-int32(y[i]), light))
		p[3] = 255
	}
}

// colorYCCK converts a row whose first three inks are coded as YCbCr.
func colorYCCK(dst, luma, cb, cr, k []byte) {
	n := len(dst) / 4
	luma, cb, cr, k = luma[:n], cb[:n], cr[:n], k[:n]
	for i, v := range luma {
		y, b, r := int32(v), int32(cb[i])-128, int32(cr[i])-128
		p := dst[4*i : 4*i+4 : 4*i+4]
		light := int32(k[i])
		p[0] = uint8(light - share(int32(clamp(y+(redCr*r+1<<15)>>16)), light))
		p[1] = uint8(light - share(int32(clamp(y+(1<<15-greenCb*b-greenCr*r)>>16)), light))
		p[2] = uint8(light - share(int32(clamp(y+(blueCb*b+1<<15)>>16)), light))
		p[3] = 255
	}
}

// share is a·b/255, rounded.
func share(a, b int32) int32 {
	v := a*b + 128
	return (v + v>>8) >> 8
}

// clamp saturates at 0 and 255.
func clamp(v int32) uint8 {
	if uint32(v) > 255 {
		return uint8(^v >> 31)
	}
	return uint8(v)
}
