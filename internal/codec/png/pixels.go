package png

import "image"

// Decode writes the window, which is the whole image or a part of it, with 4 bytes per pixel: red,
// green, blue and 255. Stride is the distance in bytes between its rows. As with Pillow's
// convert("RGB"), alpha and transparent colours are dropped, colours of 16 bits keep the upper 8,
// and grey values of 16 bits above 255 become 255. Decode may be called again for other windows.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if err := d.check(window); err != nil || window.Empty() {
		return err
	}
	if stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx() {
		return errRoom
	}
	d.done = -1
	return d.decode(window.Max.Y, func(row []byte, y int, p pass) {
		if y < window.Min.Y || y >= window.Max.Y {
			return
		}
		out := dst[(y-window.Min.Y)*stride:][:4*window.Dx()]
		if p.dx == 1 {
			d.pixels(out, row, window.Min.X)
			return
		}
		d.line = grow(d.line, 4*((d.w-p.x+p.dx-1)/p.dx))
		line := d.line
		d.pixels(line, row, 0)
		for x := p.x; x < window.Max.X; x += p.dx {
			if x >= window.Min.X {
				copy(out[4*(x-window.Min.X):][:4], line)
			}
			line = line[4:]
		}
	})
}

// pixels writes the pixels of a row from pixel x on.
func (d *Decoder) pixels(dst, row []byte, x int) {
	if d.depth < 8 {
		d.fewBits(dst, row, x)
		return
	}
	size := d.bits() / 8
	row = row[x*size:]
	n := len(dst) / 4
	switch {
	case d.colour == Palette:
		for i, v := range row[:n] {
			put(dst[4*i:], d.palette[v])
		}
	case d.colour == RGB && d.depth == 8:
		row = row[:3*n]
		for i := 0; i+3 < len(dst); i += 4 {
			dst[i], dst[i+1], dst[i+2], dst[i+3] = row[0], row[1], row[2], 255
			row = row[3:]
		}
	case d.colour == RGBAlpha && d.depth == 8:
		copy(dst, row[:4*n])
		for i := 3; i < len(dst); i += 4 {
			dst[i] = 255
		}
	case d.colour == Grey && d.depth == 16:
		for i := range n {
			v := row[2*i+1]
			if row[2*i] > 0 {
				v = 255
			}
			put(dst[4*i:], [3]uint8{v, v, v})
		}
	case d.colour == Grey || d.colour == GreyAlpha:
		for i := range n {
			v := row[i*size]
			put(dst[4*i:], [3]uint8{v, v, v})
		}
	default:
		for i := range n {
			p := row[i*size:][:6]
			put(dst[4*i:], [3]uint8{p[0], p[2], p[4]})
		}
	}
}

// fewBits is pixels for less than 8 bits.
func (d *Decoder) fewBits(dst, row []byte, x int) {
	times := d.spread()
	for i := 0; i < len(dst); i += 4 {
		v := d.bitsAt(row, x)
		c := [3]uint8{v * times, v * times, v * times}
		if d.colour == Palette {
			c = d.palette[v]
		}
		put(dst[i:], c)
		x++
	}
}

// bitsAt is the sample of pixel x, of up to 8 bits.
func (d *Decoder) bitsAt(row []byte, x int) uint8 {
	bit := x * d.depth
	return row[bit/8] >> (8 - d.depth - bit%8) & uint8(1<<d.depth-1)
}

// spread is the factor that spreads grey values over 0 to 255.
func (d *Decoder) spread() uint8 { return 255 / uint8(1<<d.depth-1) }

func put(dst []byte, c [3]uint8) {
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}
