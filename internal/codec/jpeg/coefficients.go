package jpeg

import "image"

// A Frame is what coefficients need to become pixels.
type Frame struct {
	Width, Height int         // in pixels
	Model         Model       // Gray, YCbCr or RGB
	Orientation   int         // as in Config
	Sampling      [4]Sampling // by component; 1 and 1 in a gray image
	Quant         [4]Block    // by component: the quantisation table
}

// Rows gives the coefficients of an image that is not a JPEG file.
type Rows interface {
	// Row returns a component's blocks in row y of MCUs: rows of blocks, one after the
	// other, as wide as the image's MCUs. last has an index for every block, in zigzag
	// order: all later coefficients are zero. The slices stay valid until the next call
	// for the same component.
	Row(component, y int) (blocks []Block, last []uint8, err error)
}

// Open prepares d for an image whose coefficients come from rows. Decode asks only for
// the rows of MCUs that its window needs, in their order, and passes on their errors.
func (d *Decoder) Open(f Frame, rows Rows) (Config, error) {
	d.ready, d.rows = false, nil
	d.data = nil
	n := 3
	if f.Model == Gray {
		n = 1
	}
	d.config = Config{Width: f.Width, Height: f.Height, Components: n, Orientation: f.Orientation, Sampling: f.Sampling}
	d.components = d.store[:n]
	for i := range d.components {
		c := &d.components[i]
		c.h, c.v, c.quant = f.Sampling[i].H, f.Sampling[i].V, f.Quant[i]
	}
	d.buffered = false
	if err := d.checkFrame(0); err != nil {
		return Config{}, err
	}
	d.config.Model = f.Model
	d.ready, d.rows = true, rows
	return d.config, nil
}

// Rows returns which rows of MCUs the window of an image needs: from up to, but not
// including, to. A header must have been read, and the window be in the image.
func (d *Decoder) Rows(window image.Rectangle) (from, to int) {
	v := d.viewOf(window)
	return v.y0, v.y1
}

// Coefficients decodes the whole image of the file that Header has read. For every row
// y of MCUs it calls row with the blocks of each component, as in [Rows]. They may
// change after the call.
//
// A progressive file of which libjpeg estimates coefficients, because no scan has all
// of their bits, is an error that wraps errors.ErrUnsupported.
func (d *Decoder) Coefficients(row func(y int, blocks *[4][]Block) error) (Frame, error) {
	if !d.ready || d.rows != nil {
		return Frame{}, errNoHeader
	}
	if err := d.begin(); err != nil {
		return Frame{}, err
	}
	if d.buffered && d.smooth {
		return Frame{}, unsupported(len(d.data), "coefficients without their last bits")
	}
	var blocks [4][]Block
	for y := range d.mcuHigh {
		if !d.buffered {
			if err := d.decodeRow(0, d.mcuWide); err != nil {
				return Frame{}, err
			}
		}
		for i := range d.components {
			c := &d.components[i]
			n := c.across * c.v
			if d.buffered {
				blocks[i] = c.coefficients[y*n:][:n]
				if d.zigzag {
					c.row = grow(c.row, n)
					d.natural(c.row, blocks[i])
					blocks[i] = c.row
				}
			} else {
				blocks[i] = c.row[:n]
			}
		}
		if err := row(y, &blocks); err != nil {
			return Frame{}, err
		}
	}
	return d.frame(), nil
}

// frame is the Frame of the file whose scans have been read.
func (d *Decoder) frame() Frame {
	f := Frame{Width: d.config.Width, Height: d.config.Height, Model: d.config.Model, Orientation: d.config.Orientation}
	for i := range d.components {
		c := &d.components[i]
		f.Sampling[i] = Sampling{c.h, c.v}
		if c.latched { // otherwise no scan has the component, and all of it is zero
			f.Quant[i] = c.quant
		}
	}
	return f
}

// A Lossy makes the coefficients that libjpeg codes for an image: YCbCr, with chroma of half
// the width and height, the accurate integer DCT and the tables of the standard's annex K. They
// come as [Rows], so that Decode gives the image as it is after coding and decoding. Its zero
// value is ready for Prepare.
type Lossy struct {
	pix    []byte
	w, h   int
	quant  [2]Block // luma's and chroma's
	blocks [3][]Block
	last   [3][]uint8
	plane  []uint8 // samples of a row of MCUs
}

// Prepare begins with an image of w×h pixels, 4 bytes each: red, green, blue and one that is
// ignored. Quality is 1 to 100, as in libjpeg. Pix must stay as it is while rows are asked for.
func (l *Lossy) Prepare(pix []byte, w, h, quality int) Frame {
	l.pix, l.w, l.h = pix, w, h
	scale := 200 - 2*quality
	if quality < 50 {
		scale = 5000 / quality
	}
	for t, table := range [2]*[64]uint8{&annexLuma, &annexChroma} {
		for i, v := range table {
			l.quant[t][i] = int16(min(max((int(v)*scale+50)/100, 1), 255))
		}
	}
	return Frame{
		Width: w, Height: h, Model: YCbCr,
		Sampling: [4]Sampling{{2, 2}, {1, 1}, {1, 1}},
		Quant:    [4]Block{l.quant[0], l.quant[1], l.quant[1]},
	}
}

// Row gives the blocks of a row of MCUs.
func (l *Lossy) Row(component, y int) ([]Block, []uint8, error) {
	wide, high, table := 2*ceil(l.w, 16), 2, 0
	if component > 0 {
		wide, high, table = wide/2, 1, 1
	}
	l.plane = grow(l.plane, 64*wide*high)
	for row := range 8 * high {
		out := l.plane[8*wide*row:][:8*wide]
		if component == 0 {
			l.luma(out, 16*y+row)
		} else {
			l.chroma(out, 8*y+row, component)
		}
	}
	n := wide * high
	l.blocks[component], l.last[component] = grow(l.blocks[component], n), grow(l.last[component], n)
	for i := range n {
		at := 64*wide*(i/wide) + 8*(i%wide)
		l.last[component][i] = forward(&l.blocks[component][i], l.plane[at:], 8*wide, &l.quant[table])
	}
	return l.blocks[component], l.last[component], nil
}

// luma computes a row of samples. Beyond the image they are those at its edge.
func (l *Lossy) luma(out []uint8, y int) {
	row := l.pix[4*l.w*min(y, l.h-1):][:4*l.w]
	for x := range l.w {
		p := row[4*x : 4*x+4 : 4*x+4]
		out[x] = uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	for x := l.w; x < len(out); x++ {
		out[x] = out[l.w-1]
	}
}

// chroma computes a row of samples, each the mean of four pixels, rounded up and down in turn.
// To the right of the image there are its last pixels, and below it its last samples.
func (l *Lossy) chroma(out []uint8, y, component int) {
	y = min(y, (l.h-1)/2)
	above := l.pix[4*l.w*2*y:][:4*l.w]
	below := l.pix[4*l.w*min(2*y+1, l.h-1):][:4*l.w]
	for x := range out {
		left, right := 4*min(2*x, l.w-1), 4*min(2*x+1, l.w-1)
		sum := uint32(1 + x&1)
		for _, p := range [4][]byte{above[left:], above[right:], below[left:], below[right:]} {
			sum += difference(p, component)
		}
		out[x] = uint8(sum >> 2)
	}
}

// difference is Cb or Cr of a pixel.
func difference(p []byte, component int) uint32 {
	r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
	const half = 128<<16 + 1<<15 - 1
	if component == 1 {
		return uint32(-11059*r-21709*g+32768*b+half) >> 16
	}
	return uint32(32768*r-27439*g-5329*b+half) >> 16
}

// forward computes the quantised coefficients of a block, and the zigzag index of the last one
// that is not zero.
func forward(b *Block, samples []uint8, stride int, quant *Block) (last uint8) {
	var work [64]int32
	for y := range 8 {
		row := samples[stride*y:][:8]
		for x, v := range row {
			work[8*y+x] = int32(v) - 128
		}
		forwardLine(work[8*y:], 1, -2)
	}
	for x := range 8 {
		forwardLine(work[x:], 8, 2)
	}
	for i, v := range work {
		q := 8 * int32(quant[i]) // the transform has a factor of 8
		if v < 0 {
			b[i] = -int16((-v + q/2) / q)
		} else {
			b[i] = int16((v + q/2) / q)
		}
	}
	for k := range uint8(64) {
		if b[zigzag[k]] != 0 {
			last = k
		}
	}
	return last
}

// forwardLine transforms eight numbers that are step apart, by the method of the inverse DCT. The sums
// are divided by 2^down, and the products by 2^13 more.
func forwardLine(d []int32, step, down int) {
	a0, a7 := d[0]+d[7*step], d[0]-d[7*step]
	a1, a6 := d[step]+d[6*step], d[step]-d[6*step]
	a2, a5 := d[2*step]+d[5*step], d[2*step]-d[5*step]
	a3, a4 := d[3*step]+d[4*step], d[3*step]-d[4*step]
	outer, inner := a0+a3, a1+a2
	if down < 0 {
		d[0], d[4*step] = (outer+inner)<<-down, (outer-inner)<<-down
	} else {
		half := int32(1) << (down - 1)
		d[0], d[4*step] = (outer+inner+half)>>down, (outer-inner+half)>>down
	}
	shift := 13 + down
	half := int32(1) << (shift - 1)
	outer, inner = a0-a3, a1-a2
	z := (inner + outer) * fix0541
	d[2*step] = (z + outer*fix0765 + half) >> shift
	d[6*step] = (z - inner*fix1847 + half) >> shift

	z1, z2, z3, z4 := a4+a7, a5+a6, a4+a6, a5+a7
	z5 := (z3 + z4) * fix1175
	z1, z2 = -z1*fix0899, -z2*fix2562
	z3, z4 = z5-z3*fix1961, z5-z4*fix0390
	d[7*step] = (a4*fix0298 + z1 + z3 + half) >> shift
	d[5*step] = (a5*fix2053 + z2 + z4 + half) >> shift
	d[3*step] = (a6*fix3072 + z2 + z3 + half) >> shift
	d[step] = (a7*fix1501 + z1 + z4 + half) >> shift
}

// Tables K.1 and K.2 of the standard (ITU-T T.81), row by row.
var (
	annexLuma = [64]uint8{
		16, 11, 10, 16, 24, 40, 51, 61,
		12, 12, 14, 19, 26, 58, 60, 55,
		14, 13, 16, 24, 40, 57, 69, 56,
		14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77,
		24, 35, 55, 64, 81, 104, 113, 92,
		49, 64, 78, 87, 103, 121, 120, 101,
		72, 92, 95, 98, 112, 100, 103, 99,
	}
	annexChroma = [64]uint8{
		17, 18, 24, 47, 99, 99, 99, 99,
		18, 21, 26, 66, 99, 99, 99, 99,
		24, 26, 56, 99, 99, 99, 99, 99,
		47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
	}
)
