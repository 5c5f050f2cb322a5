package png

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

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

// NumberBytes is how many bytes DecodeNumbers writes per pixel: 1, 2 for 16 bits, and 4 for
// colours.
func (d *Decoder) NumberBytes() int {
	switch {
	case d.colour == RGB || d.colour == RGBAlpha:
		return 4
	case d.depth == 16:
		return 2
	}
	return 1
}

// DecodeNumbers writes the first rows of a mask to dst, which must be aligned for its numbers: uint8 for
// indices of a palette and grey values of up to 8 bits, uint16 for those of 16 bits, and int32
// for ids of segments in colours of 8 bits: red + 256·green + 65536·blue. Grey values of 2 and 4
// bits are spread over 0 to 255, and those of 1 bit stay 0 and 1, as in Pillow. The file must not
// have grey with alpha, nor colours of 16 bits.
//
// If it is called again for more rows, it goes on; dst must begin with the rows before.
func (d *Decoder) DecodeNumbers(dst []byte, rows int) error {
	if err := d.check(image.Rect(0, 0, d.w, rows)); err != nil || rows <= d.done {
		return err
	}
	n := d.w * d.NumberBytes()
	if len(dst) < n*rows {
		return errRoom
	}
	show := func(row []byte, y int, p pass) {
		if y < rows {
			d.numbers(dst[y*n:][:n], row, p)
		}
	}
	first := d.done
	d.done = -1
	var err error
	if first < 0 || d.laced {
		err = d.decode(rows, show)
	} else {
		err = d.goOn(first, rows, show)
	}
	if err == nil {
		d.done = rows
	}
	return err
}

// numbers writes those of a row.
func (d *Decoder) numbers(dst, row []byte, p pass) {
	switch d.NumberBytes() {
	case 2:
		out := dense.Values[uint16](dst)
		for x := p.x; x < d.w; x += p.dx {
			out[x] = binary.BigEndian.Uint16(row)
			row = row[2:]
		}
		return
	case 4:
		out, size := dense.Values[int32](dst), d.bits()/8
		for x := p.x; x < d.w; x += p.dx {
			out[x] = int32(row[0]) | int32(row[1])<<8 | int32(row[2])<<16
			row = row[size:]
		}
		return
	}
	if d.depth == 8 && p.dx == 1 {
		copy(dst, row)
		return
	}
	times := uint8(1)
	if d.colour == Grey && d.depth > 1 {
		times = d.spread()
	}
	for i, x := 0, p.x; x < d.w; i, x = i+1, x+p.dx {
		dst[x] = d.bitsAt(row, i) * times
	}
}

// StoredSamples is the number of samples per pixel of the file whose header was read: 1 for grey,
// 2 with alpha, 3 for colours and palettes, 4 with alpha.
func (d *Decoder) StoredSamples() (n int, dtype dataset.Dtype, ok bool) {
	n = d.colour.channels()
	if d.colour == Palette {
		n = 3
	}
	return n, dataset.Uint16, d.data != nil
}

// DecodeSamples writes the window, which is the whole image or a part of it, one plane after the
// other without gaps: values of 16 bits as stored, and those of fewer bits spread over 0 to 65535.
// Transparent colours stay as they are.
func (d *Decoder) DecodeSamples(dst []float32, window image.Rectangle) error {
	n, _, _ := d.StoredSamples()
	if err := d.check(window); err != nil || window.Empty() {
		return err
	}
	area := window.Dx() * window.Dy()
	if len(dst) != n*area {
		return errRoom
	}
	d.done = -1
	return d.decode(window.Max.Y, func(row []byte, y int, p pass) {
		if y < window.Min.Y || y >= window.Max.Y {
			return
		}
		for c := range n {
			out := dst[c*area+(y-window.Min.Y)*window.Dx():][:window.Dx()]
			first := max(0, (window.Min.X-p.x+p.dx-1)/p.dx)
			for i, x := first, p.x+first*p.dx; x < window.Max.X; i, x = i+1, x+p.dx {
				out[x-window.Min.X] = d.sample(row, i, n, c)
			}
		}
	})
}

// sample is sample c of n of pixel x.
func (d *Decoder) sample(row []byte, x, n, c int) float32 {
	switch {
	case d.depth == 16:
		return float32(binary.BigEndian.Uint16(row[2*(x*n+c):]))
	case d.colour == Palette && d.depth == 8:
		return 257 * float32(d.palette[row[x]][c])
	case d.depth == 8:
		return 257 * float32(row[x*n+c])
	case d.colour == Palette:
		return 257 * float32(d.palette[d.bitsAt(row, x)][c])
	}
	return 257 * float32(d.bitsAt(row, x)*d.spread())
}

// unfilter undoes the filter of a row whose pixels have so many bytes. Above is the row before
// it, or zeros.
func unfilter(filter byte, row, above []byte, pixel int) error {
	above = above[:len(row)]
	switch filter {
	case 0:
	case 1:
		for i := pixel; i < len(row); i++ {
			row[i] += row[i-pixel]
		}
	case 2:
		addUp(row, above)
	case 3:
		for i := range min(pixel, len(row)) {
			row[i] += above[i] / 2
		}
		for i := pixel; i < len(row); i++ {
			row[i] += uint8((int(row[i-pixel]) + int(above[i])) / 2)
		}
	case 4:
		switch pixel {
		case 3:
			paeth3(row, above)
		case 4:
			paeth4(row, above)
		default:
			for c := range min(pixel, len(row)) {
				paethEvery(row[c:], above[c:], pixel)
			}
		}
	default:
		return fmt.Errorf("no filter has the number %d", filter)
	}
	return nil
}

// addUp adds the row above, 8 bytes at a time.
func addUp(row, above []byte) {
	const low = 0x7f7f7f7f7f7f7f7f
	for len(row) >= 8 && len(above) >= 8 {
		a, b := binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(above)
		binary.LittleEndian.PutUint64(row, (a&low+b&low)^(a^b)&^low)
		row, above = row[8:], above[8:]
	}
	for i := range row {
		row[i] += above[i]
	}
}

// nearest is whichever of left, above and corner is nearest to left + above - corner: Paeth's
// predictor.
func nearest(a, b, c int32) int32 {
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = pa^pa>>31-pa>>31, pb^pb>>31-pb>>31, pc^pc>>31-pc>>31
	if pb < pa {
		a, pa = b, pb
	}
	if pc < pa {
		a = c
	}
	return a
}

// paethEvery undoes the filter for one of the bytes of a pixel.
func paethEvery(row, above []byte, pixel int) {
	var a, c int32
	for i := 0; i < len(row); i += pixel {
		b := int32(above[i])
		a = (int32(row[i]) + nearest(a, b, c)) & 255
		row[i], c = byte(a), b
	}
}

// paeth3 is paethEvery for all bytes of pixels of 3. None of the three waits for the others.
func paeth3(row, above []byte) {
	var a0, a1, a2, c0, c1, c2 int32
	for len(row) >= 3 && len(above) >= 3 {
		b0, b1, b2 := int32(above[0]), int32(above[1]), int32(above[2])
		a0 = (int32(row[0]) + nearest(a0, b0, c0)) & 255
		a1 = (int32(row[1]) + nearest(a1, b1, c1)) & 255
		a2 = (int32(row[2]) + nearest(a2, b2, c2)) & 255
		row[0], row[1], row[2] = byte(a0), byte(a1), byte(a2)
		c0, c1, c2 = b0, b1, b2
		row, above = row[3:], above[3:]
	}
}

// paeth4 is paeth3 for pixels of 4 bytes.
func paeth4(row, above []byte) {
	var a0, a1, a2, a3, c0, c1, c2, c3 int32
	for len(row) >= 4 && len(above) >= 4 {
		b0, b1, b2, b3 := int32(above[0]), int32(above[1]), int32(above[2]), int32(above[3])
		a0 = (int32(row[0]) + nearest(a0, b0, c0)) & 255
		a1 = (int32(row[1]) + nearest(a1, b1, c1)) & 255
		a2 = (int32(row[2]) + nearest(a2, b2, c2)) & 255
		a3 = (int32(row[3]) + nearest(a3, b3, c3)) & 255
		row[0], row[1], row[2], row[3] = byte(a0), byte(a1), byte(a2), byte(a3)
		c0, c1, c2, c3 = b0, b1, b2, b3
		row, above = row[4:], above[4:]
	}
}
