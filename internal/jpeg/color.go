package jpeg

// The conversions write 4 bytes per pixel, the fourth of which is 255, for as
// many pixels as dst has room for.
//
// ITU-T T.871: R = Y + 1.402 Cr, G = Y − 0.344136 Cb − 0.714136 Cr,
// B = Y + 1.772 Cb, here as libjpeg rounds it: 16 bits of fraction, red and
// blue rounded before the sum and green after it.
const (
	redCr   = 91881
	greenCb = 22554
	greenCr = 46802
	blueCb  = 116130
)

// colorYCbCr converts a row.
func colorYCbCr(dst, luma, cb, cr []byte) {
	n := len(dst) / 4
	luma, cb, cr = luma[:n], cb[:n], cr[:n]
	for i, v := range luma {
		y, b, r := int32(v), int32(cb[i])-128, int32(cr[i])-128
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0] = clamp(y + (redCr*r+1<<15)>>16)
		p[1] = clamp(y + (1<<15-greenCb*b-greenCr*r)>>16)
		p[2] = clamp(y + (blueCb*b+1<<15)>>16)
		p[3] = 255
	}
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

// colorGray repeats a row's samples.
func colorGray(dst, gray []byte) {
	gray = gray[:len(dst)/4]
	for i, v := range gray {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = v, v, v, 255
	}
}

// colorCMYK converts a row of inverted inks, as Adobe writes them and as
// Pillow takes all files of four components to be, by Pillow's formula: an
// ink's share of the light that black leaves, rounded.
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

// colorYCCK converts a row whose inks but the last are coded as YCbCr.
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
