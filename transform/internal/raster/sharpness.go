package raster

// Sharpness blends with what PIL's filter SMOOTH makes: the pixel counts five times,
// and its eight neighbours once. Pixels at the edge are not smoothed.
func (m *Bytes) Sharpness(factor float64) {
	w, h := m.Width, m.Height
	if w < 3 || h < 3 || factor == 1 {
		return
	}
	m.Spare.Resize(w, h)
	stride := 4 * w
	copy(m.Spare.Pix[:stride], m.Pix)
	copy(m.Spare.Pix[stride*(h-1):], m.Pix[stride*(h-1):])
	f := float32(factor)
	for y := 1; y < h-1; y++ {
		smoothRow(m.Spare.Pix[stride*y:][:stride], m.Pix[stride*(y-1):][:3*stride], f)
	}
	m.Swap()
}

// smoothRow computes the middle one of three rows.
func smoothRow(dst, rows []byte, factor float32) {
	n := len(dst)
	above, row, below := rows[:n:n], rows[n:2*n:2*n], rows[2*n:3*n:3*n]
	copy(dst[:4], row)
	copy(dst[n-4:], row[n-4:])
	// Sums of the columns before, at and after the pixel, per channel.
	var left, middle [3]int
	for c := range 3 {
		left[c] = int(above[c]) + int(row[c]) + int(below[c])
		middle[c] = int(above[4+c]) + int(row[4+c]) + int(below[4+c])
	}
	for x := 4; x+8 <= n; x += 4 {
		up, on, low, out := above[x+4:x+8:x+8], row[x:x+8:x+8], below[x+4:x+8:x+8], dst[x:x+4:x+4]
		for c := range 3 {
			right := int(up[c]) + int(on[4+c]) + int(low[c])
			sum := left[c] + middle[c] + right + 4*int(on[c])
			left[c], middle[c] = middle[c], right
			// Pillow divides in float32 and adds a half. Thirteenths are never close to a half.
			smooth := (2*sum + 13) / 26
			v := float32(smooth) + float32(factor*float32(int(on[c])-smooth))
			out[c] = uint8(min(max(v, 0), 255))
		}
	}
}

// Sharpness blends the image with a smoothed one, whose values at the edge are those of the
// image. All are clamped.
func (m *Floats) Sharpness(factor float64) {
	d := m.depth()
	w, h := m.Width, m.Height
	if w < 3 || h < 3 {
		return
	}
	m.makeSpare(w, h)
	for c := range m.Planes.Channels {
		src, dst := m.Plane(c), m.Spare.Plane(c)
		for y := range h {
			row, out := src[w*y:][:w], dst[w*y:][:w]
			if y == 0 || y == h-1 {
				for x, v := range row {
					out[x] = d.cut(v)
				}
				continue
			}
			d.sharpenRow(out, src[w*(y-1):][:w], row, src[w*(y+1):][:w], float32(1-factor))
		}
	}
	m.Swap()
}

// sharpenRow computes a row from three. Rest is the part of the smoothed image.
func (d Depth) sharpenRow(out, above, row, below []float32, rest float32) {
	const side, middle = float32(1.0 / 13), float32(5.0 / 13)
	last := len(row) - 1
	out[0], out[last] = d.cut(row[0]), d.cut(row[last])
	column := func(x int) float64 { return float64(above[x]) + float64(row[x]) + float64(below[x]) }
	left, here := column(0), column(1)
	for x := 1; x < last; x++ {
		right, v := column(x+1), row[x]
		sum := left + (here - float64(v)) + right
		smooth := float32(float64(sum*float64(side)) + float64(float64(v)*float64(middle)))
		if d.Whole {
			smooth = roundEven(smooth)
		}
		out[x] = d.cut(plusTimes(v, smooth-v, rest))
		left, here = here, right
	}
}
