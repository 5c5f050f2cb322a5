package tiff

// A ycbcr converts luma and chroma to RGB as libtiff does, with 16 bits of fraction.
// Source: TIFF 6.0, sections 20 and 21.
type ycbcr struct {
	luma             [256]int32
	redCr, blueCb    [256]int32
	greenCr, greenCb [256]int32
}

// read computes the tables from a directory.
func (t *ycbcr) read(d *directory) error {
	luma := [3]float32{0.299, 0.587, 0.114}
	levels := [6]float32{0, 255, 128, 255, 128, 255}
	for _, f := range []struct {
		tag tag
		to  []float32
	}{{ycbcrCoefficient, luma[:]}, {referenceBW, levels[:]}} {
		v, err := d.field(f.tag)
		if err != nil {
			return err
		}
		switch v.kind {
		case typeShort, typeLong, typeRational, typeFloat, typeDouble:
			for i := range f.to {
				if v.len() >= len(f.to) { // libtiff ignores a field with fewer values
					f.to[i] = float32(v.float(i))
				}
			}
		}
	}
	if !(luma[1] > 0) || luma[0] != luma[0] || luma[2] != luma[2] {
		return unsupported("the coefficients of luma %v", luma)
	}
	fix := func(v float32) int32 { return int32(float64(min(max(v, 0), 2))*(1<<16) + 0.5) }
	red, blue := 2-2*luma[0], 2-2*luma[2]
	redCr, greenCr := fix(red), -fix(luma[0]*red/luma[1])
	blueCb, greenCb := fix(blue), -fix(luma[2]*blue/luma[1])
	const half = 1 << 15
	for i := range 256 {
		x := float32(i - 128)
		cr := level(x, levels[4]-128, levels[5]-128, 127)
		cb := level(x, levels[2]-128, levels[3]-128, 127)
		t.redCr[i] = (redCr*cr + half) >> 16
		t.blueCb[i] = (blueCb*cb + half) >> 16
		t.greenCr[i] = greenCr * cr
		t.greenCb[i] = greenCb*cb + half
		t.luma[i] = level(float32(i), levels[0], levels[1], 255)
	}
	return nil
}

// level scales a code from the range black to white to the range 0 to top.
func level(code, black, white, top float32) int32 {
	between := white - black
	if between == 0 {
		between = 1
	}
	v := (code - float32(int32(black))) * top / between
	return int32(min(max(v, -128*32), 128*32))
}

// row writes pixels from a row of blocks, from row y and column x of the blocks on.
// Each block has h×v luma samples, one of Cb and one of Cr.
func (t *ycbcr) row(dst, blocks []byte, x, y, h, v int) {
	size := h*v + 2
	for i := 0; i < len(dst); i += 4 {
		b := blocks[x/h*size:][:size]
		luma, cb, cr := t.luma[b[y*h+x%h]], b[h*v], b[h*v+1]
		put(dst[i:], [3]uint8{
			cut(luma + t.redCr[cr]),
			cut(luma + (t.greenCb[cb]+t.greenCr[cr])>>16),
			cut(luma + t.blueCb[cb]),
		})
		x++
	}
}
