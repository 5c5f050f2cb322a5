package jpeg

import "encoding/binary"

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
