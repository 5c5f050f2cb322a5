package jpeg

import (
	"image"
	"math/bits"
)

// A view is the part of the MCU grid that a window needs.
type view struct {
	x0, x1 int // MCU columns
	y0, y1 int // MCU rows
}

// viewOf returns the view of a window. It includes the pixels around the window that
// the triangle filter needs.
func (d *Decoder) viewOf(window image.Rectangle) view {
	w, h := 8*d.hMax, 8*d.vMax
	near := 0
	for i := range d.components {
		if d.components[i].filter != filterNone {
			near = 1
		}
	}
	return view{
		x0: max(0, window.Min.X-near) / w,
		x1: min(d.mcuWide-1, (window.Max.X-1+near)/w) + 1,
		y0: max(0, window.Min.Y-d.lag) / h,
		y1: min(d.mcuHigh-1, (window.Max.Y-1+d.lag)/h) + 1,
	}
}

// margin is how many bytes after the samples of a strip's row kernels may overwrite.
const margin = 32

func (c *component) setView(v view) {
	c.span = (v.x1 - v.x0) * c.h * 8
	c.stride = c.span + margin
}

// decodeWindow decodes one MCU row after the other and writes the pixels that each
// of them completes.
func (d *Decoder) decodeWindow() error {
	v := d.view
	for my := range v.y1 {
		if err := d.stopped(); err != nil {
			return err
		}
		if my >= v.y0 {
			if err := d.sampleRow(my); err != nil {
				return err
			}
			d.painter.writeRows(my)
		} else if d.coded() {
			if err := d.decodeRow(v.x0, v.x0); err != nil {
				return err
			}
		}
	}
	return nil
}

// coded reports whether entropy code is read for one MCU row after the other.
func (d *Decoder) coded() bool { return !d.buffered && d.rows == nil }

// sampleRow fills the painter's strips with the samples of MCU row my.
func (d *Decoder) sampleRow(my int) error {
	p := &d.painter
	if d.coded() {
		if d.stretch.direct {
			return d.readRow(d.view.x0, d.view.x1, p)
		}
		if err := d.decodeRow(d.view.x0, d.view.x1); err != nil {
			return err
		}
	}
	for i := range d.components {
		row, last, err := d.decodedRow(i, my)
		if err != nil {
			return err
		}
		p.inverseRow(i, my, row, last)
	}
	return nil
}

// decodedRow returns the blocks of MCU row my of component ci, and the indices of their
// last coefficients, unless the image is buffered.
func (d *Decoder) decodedRow(ci, my int) ([]block, []uint8, error) {
	if d.rows != nil {
		return d.rows.Row(ci, my)
	}
	return d.components[ci].row, d.components[ci].last, nil
}

// A painter computes pixels from coefficients.
type painter struct {
	d      *Decoder
	strips [4][]byte // by component: samples of one MCU row within the view, and one row above
	planes [4][]byte // by component: one row at full resolution
	blocks []block   // a row of blocks with estimated coefficients
	last   []uint8   // of a row of buffered blocks

	dst    []byte // where pixels are written, from row top of the image on
	stride int
	top    int
}

// open prepares for the Decoder's view.
func (p *painter) open(d *Decoder) {
	p.d = d
	for i := range d.components {
		c := &d.components[i]
		p.strips[i] = grow(p.strips[i], c.stride*(8*c.v+1))
		p.planes[i] = grow(p.planes[i], (d.view.x1-d.view.x0)*d.hMax*8)
	}
}

// inverseRow fills component ci's strip with the samples of MCU row my, and keeps the
// last row of the one before. The MCU row's blocks are in row and last, unless the image
// is buffered.
func (p *painter) inverseRow(ci, my int, row []block, last []uint8) {
	d := p.d
	c, strip := &d.components[ci], p.strips[ci]
	p.keepLast(ci)
	n := c.span / 8
	for y := range c.v {
		var blocks []block
		var ends []uint8
		if d.buffered {
			first := (my*c.v+y)*c.across + d.view.x0*c.h
			blocks = c.coefficients[first : first+n]
			if d.smooth || d.zigzag {
				p.blocks = grow(p.blocks, n)
				d.natural(p.blocks, blocks)
				blocks = p.blocks
			}
			if d.smooth {
				d.smoothRow(blocks, ci, my*c.v+y, d.view.x0*c.h)
			}
			p.last = grow(p.last, n)
			ends = p.last
			if d.config.Progressive && !d.irregular && !d.smooth {
				for i, set := range c.nonzero[first : first+n] {
					ends[i] = uint8(bits.Len64(set|1) - 1)
				}
			} else {
				for i := range blocks {
					ends[i] = lastIndex(&blocks[i])
				}
			}
		} else {
			first := y * n
			if d.rows != nil {
				first = y*c.across + d.view.x0*c.h
			}
			blocks, ends = row[first:first+n], last[first:first+n]
		}
		inverse(strip[(1+8*y)*c.stride:], c.stride, blocks, ends, &c.quant)
	}
}

// keepLast makes the last row of component ci's strip the first one.
func (p *painter) keepLast(ci int) {
	c, strip := &p.d.components[ci], p.strips[ci]
	copy(strip[:c.stride], strip[8*c.v*c.stride:])
}

// lastIndex returns 0 if only the DC coefficient of b differs from zero, and 63
// otherwise.
func lastIndex(b *block) uint8 {
	var any int16
	for _, c := range b[1:] {
		any |= c
	}
	if any == 0 {
		return 0
	}
	return 63
}

// rowsOf returns the rows of the window, counted in the image, that MCU row my
// completes: row from to row to-1.
func (d *Decoder) rowsOf(my int) (from, to int) {
	window := d.window
	from, to = 8*d.vMax*my-d.lag, 8*d.vMax*(my+1)-d.lag
	if my == d.mcuHigh-1 {
		to = window.Max.Y
	}
	return max(from, window.Min.Y), min(to, window.Max.Y)
}

// writeRows writes the pixels that MCU row my completes. The strips hold it and the
// row above.
func (p *painter) writeRows(my int) {
	w := p.d.window
	x := w.Min.X - p.d.view.x0*8*p.d.hMax
	from, to := p.d.rowsOf(my)
	for y := from; y < to; y++ {
		p.writeRow(p.dst[(y-p.top)*p.stride:][:4*w.Dx()], my, y, x)
	}
}

// writeRow converts row y of the image, from column x of the strips on. The strips
// hold MCU row my.
func (p *painter) writeRow(dst []byte, my, y, x int) {
	d := p.d
	var rows [4][]byte
	for i := range d.components {
		rows[i] = p.fullRow(i, my, y)[x:]
	}
	switch d.config.Model {
	case Gray:
		colorGray(dst, rows[0])
	case YCbCr:
		colorYCbCr(dst, rows[0], rows[1], rows[2])
	case RGB:
		colorRGB(dst, rows[0], rows[1], rows[2])
	case CMYK:
		colorCMYK(dst, rows[0], rows[1], rows[2], rows[3])
	case YCCK:
		colorYCCK(dst, rows[0], rows[1], rows[2], rows[3])
	case Four:
		colorFour(dst, rows[0], rows[1], rows[2], rows[3])
	}
}

// fullRow returns a component's samples for row y of the image at full
// resolution, until the next call.
func (p *painter) fullRow(ci, my, y int) []byte {
	c, strip, plane := &p.d.components[ci], p.strips[ci], p.planes[ci]
	at := y
	if c.vx > 1 {
		at = int(uint32(y) / uint32(c.vx)) // which takes half as long as with 64 bits, and is done for every row
	}
	near := c.stripRow(strip, my, at)
	switch c.filter {
	case filterNone:
		return near
	case filterRepeat:
		repeat(plane, near, c.hx)
		return plane
	}
	near = near[:min(c.span, c.wide-p.d.view.x0*c.h*8)]
	if c.filter == filterH2 {
		upsampleH2(plane, near)
		return plane
	}
	beyond, bias := max(at-1, 0), int32(1)
	if y%2 == 1 {
		beyond, bias = min(at+1, c.high-1), 2
	}
	far := c.stripRow(strip, my, beyond)[:len(near)]
	if c.filter == filterV2 {
		upsampleV2(plane, near, far, bias)
	} else {
		upsampleH2V2(plane, near, far)
	}
	return plane
}

// stripRow returns row at of the component. The strip holds MCU row my and the
// row above.
func (c *component) stripRow(strip []byte, my, at int) []byte {
	i := (at - my*8*c.v + 1) * c.stride
	return strip[i : i+c.span]
}

// smoothed is how many coefficients of a block, in zigzag order, smoothing
// estimates.
const smoothed = 10

// patches are the weights that estimate the coefficients of a block from the DC
// coefficients of 5×5 blocks around it, row by row, in units of 1/256. Source:
// libjpeg-turbo since version 2.1, which extends section K.8 of the standard.
type patches [smoothed][25]int64

// sparse is for components that have some AC coefficients. Those without weights
// stay zero.
var sparse = patches{
	1: {10: -7, 50, 0, -50, 7},
	2: {2: -7, 7: 50, 17: -50, 22: 7},
	3: {2: -1, 7: 13, 12: -24, 17: 13, 22: -1},
	4: {0, -1, 0, 1, 0, -1, 10, 0, -10, 1, 0, 0, 0, 0, 0, 1, -10, 0, 10, -1, 0, 1, 0, -1, 0},
	5: {10: -1, 13, -24, 13, -1},
}

// dense is for components that have only DC coefficients. These change too.
var dense = patches{
	{-2, -6, -8, -6, -2, -6, 6, 42, 6, -6, -8, 42, 152, 42, -8, -6, 6, 42, 6, -6, -2, -6, -8, -6, -2},
	{-1, -1, 0, 1, 1, -3, 13, 0, -13, 3, -3, 38, 0, -38, 3, -3, 13, 0, -13, 3, -1, -1, 0, 1, 1},
	{-1, -3, -3, -3, -1, -1, 13, 38, 13, -1, 0, 0, 0, 0, 0, 1, -13, -38, -13, 1, 1, 3, 3, 3, 1},
	{2: 1, 6: 2, 7, 2, 11: -5, -14, -5, 16: 2, 7, 2, 22: 1},
	{0: -1, 4: 1, 6: 9, 8: -9, 16: -9, 18: 9, 20: 1, 24: -1},
	{6: 2, -5, 2, 10: 1, 7, -14, 7, 1, 16: 2, -5, 2},
	{6: 1, 8: -1, 11: 2, 13: -2, 16: 1, 18: -1},
	{6: 1, -3, 1, 16: -1, 3, -1},
	{6: 1, 8: -1, 11: -3, 13: 3, 16: 1, 18: -1},
	{6: 1, 2, 1, 16: -1, -2, -1},
}

// checkSmooth decides whether libjpeg would estimate coefficients that are missing
// or imprecise after all scans.
func (d *Decoder) checkSmooth() {
	d.smooth = false
	if !d.config.Progressive {
		return
	}
	useful := false
	for i := range d.components {
		c := &d.components[i]
		if c.progress[0] < 0 {
			return
		}
		for k := range smoothed {
			if c.quant[zigzag[k]] == 0 {
				return
			}
			useful = useful || k > 0 && c.progress[k] != 0
		}
	}
	d.smooth = useful
	if d.scans == 1 {
		for i := range d.components {
			d.components[i].before = [smoothed]int8{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
		}
	}
}

// smoothRow replaces missing coefficients by estimates in a copy of row at of a
// component's blocks, from column x on.
func (d *Decoder) smoothRow(blocks []block, ci, at, x int) {
	c := &d.components[ci]
	wide, high := ceil(c.wide, 8), ceil(c.high, 8)
	if at >= high {
		return
	}
	v := d.config.Sampling[ci].V
	rows := c.around(at, v, high)
	have := (*[smoothed]int8)(c.progress[:])
	if at/v > d.whole {
		have = &c.before
	}
	set := &dense
	for _, bits := range have[1:] {
		if bits >= 0 {
			set = &sparse
		}
	}
	for i := range min(len(blocks), wide-x) {
		var near [25]int64
		for j, row := range rows {
			for k := range 5 {
				if row != nil {
					near[5*j+k] = int64(row[min(max(x+i+k-2, 0), wide-1)][0])
				}
			}
		}
		c.estimate(&blocks[i], have, set, &near)
	}
}

// around returns five rows of blocks, with row at in the middle. A nil row means
// zeros. At the image's edges a row is its own neighbour. libjpeg finds the edges by
// MCU rows. The last MCU row may have fewer rows of blocks, and then libjpeg counts
// the rows above as if all MCU rows had as few.
func (c *component) around(at, v, high int) (rows [5][]block) {
	last := ceil(high, v) - 1
	n := v
	if at/v == last && high%v != 0 {
		n = high % v
	}
	place, count := at/v*n+at%v, n*(last+1)
	up := min(place, 2)
	down := min(count-1-place, 2)
	for j := range rows {
		y := at + min(max(j-2, -up), down)
		if y < c.down {
			rows[j] = c.coefficients[y*c.across:][:c.across]
		}
	}
	return rows
}

// estimate replaces coefficients that are zero and, by have, imprecise. An estimate
// does not exceed the missing bits.
func (c *component) estimate(b *block, have *[smoothed]int8, set *patches, near *[25]int64) {
	first := int64(uint16(c.quant[0]))
	for k := range smoothed {
		place, bits := zigzag[k], have[k]
		if k > 0 && (bits == 0 || b[place] != 0) || set[k] == [25]int64{} {
			continue
		}
		sum := int64(0)
		for i, w := range set[k] {
			sum += w * near[i]
		}
		quant := int64(uint16(c.quant[place]))
		size := (quant<<7 + first*max(sum, -sum)) / (quant << 8)
		if k > 0 && bits > 0 {
			size = min(size, 1<<bits-1)
		}
		if sum < 0 {
			size = -size
		}
		b[place] = int16(size)
	}
}
