package webp

import "image"

// rowOf writes a row of a lossy frame, from (x, y) on, as libwebp does. Chroma is
// interpolated from the four nearest samples. The conversion is ITU-R BT.601 in video
// range, with 14 bits of fraction. image.YCbCr uses the full range instead.
func (d *Decoder) rowOf(dst []byte, m *image.YCbCr, x, y int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	near := y / 2
	far := min(max(near+y%2*2-1, 0), (h+1)/2-1)
	for i, plane := range [2][]uint8{m.Cb, m.Cr} {
		if cap(d.chroma[i]) < w+1 {
			d.chroma[i] = make([]uint8, w+1)
		}
		d.chroma[i] = d.chroma[i][:w+1]
		n := (w + 1) / 2
		upsample(d.chroma[i], plane[near*m.CStride:][:n], plane[far*m.CStride:][:n])
	}
	luma := m.Y[y*m.YStride+x:][:len(dst)/4]
	cb, cr := d.chroma[0][x:][:len(luma)], d.chroma[1][x:][:len(luma)]
	for i, v := range luma {
		l, b, r := int(v)*19077>>8, int(cb[i]), int(cr[i])
		dst[4*i] = sixth(l + r*26149>>8 - 14234)
		dst[4*i+1] = sixth(l - b*6419>>8 - r*13320>>8 + 8708)
		dst[4*i+2] = sixth(l + b*33050>>8 - 17685)
		dst[4*i+3] = 255
	}
}

// upsample makes a row of chroma from the nearest row of samples and the one next to
// it, and doubles its length. The weights are 9:3:3:1, rounded in two steps.
func upsample(out, near, far []uint8) {
	n := len(near)
	far = far[:n]
	out[0] = edge(near[0], far[0])
	for i := 1; i < n; i++ {
		a, b, c, e := int(near[i-1]), int(near[i]), int(far[i-1]), int(far[i])
		sum := a + b + c + e + 8
		out[2*i-1] = uint8(((sum+2*(b+c))>>3 + a) >> 1)
		out[2*i] = uint8(((sum+2*(a+e))>>3 + b) >> 1)
	}
	if 2*n-1 < len(out) {
		out[2*n-1] = edge(near[n-1], far[n-1])
	}
}

func edge(near, far uint8) uint8 { return uint8((3*int(near) + int(far) + 2) >> 2) }

// sixth drops 6 bits of fraction.
func sixth(v int) uint8 { return uint8(min(max(v>>6, 0), 255)) }
