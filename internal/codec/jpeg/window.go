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
	at := y / c.vx
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
