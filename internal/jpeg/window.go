package jpeg

import "image"

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

// decodeWindow decodes one MCU row after the other and writes the pixels that each
// of them completes.
func (d *Decoder) decodeWindow(dst []byte, stride int, window image.Rectangle) error {
	v := d.viewOf(window)
	d.view = v
	for i := range d.components {
		c := &d.components[i]
		c.stride = (v.x1 - v.x0) * c.h * 8
		c.strip = grow(c.strip, c.stride*(8*c.v+1))
		d.planes[i] = grow(d.planes[i], (v.x1-v.x0)*d.hMax*8)
	}
	y := window.Min.Y
	for my := range v.y1 {
		if !d.buffered && d.rows == nil {
			x0, x1 := v.x0, v.x1
			if my < v.y0 {
				x1 = x0
			}
			if err := d.decodeRow(x0, x1); err != nil {
				return err
			}
		}
		if my < v.y0 {
			continue
		}
		for i := range d.components {
			if err := d.inverseRow(i, my); err != nil {
				return err
			}
		}
		end := min(window.Max.Y, 8*d.vMax*(my+1)-d.lag)
		if my == d.mcuHigh-1 {
			end = window.Max.Y
		}
		for ; y < end; y++ {
			d.writeRow(dst[(y-window.Min.Y)*stride:][:4*window.Dx()], my, y, window.Min.X-v.x0*8*d.hMax)
		}
	}
	return nil
}

// inverseRow fills component ci's strip with the samples of MCU row my, and
// keeps the last row of the one before.
func (d *Decoder) inverseRow(ci, my int) error {
	c := &d.components[ci]
	copy(c.strip[:c.stride], c.strip[8*c.v*c.stride:])
	n := c.stride / 8
	var given []block
	var givenLast []uint8
	if d.rows != nil {
		var err error
		if given, givenLast, err = d.rows.Row(ci, my); err != nil {
			return err
		}
	}
	for y := range c.v {
		blocks, last := c.row, c.last
		if d.rows != nil {
			first := y*c.across + d.view.x0*c.h
			blocks, last = given[first:first+n], givenLast[first:first+n]
		} else if d.buffered {
			first := (my*c.v+y)*c.across + d.view.x0*c.h
			blocks = c.coefficients[first : first+n]
			if d.smooth {
				d.blocks = grow(d.blocks, n)
				blocks = d.blocks
				d.smoothRow(blocks, ci, my*c.v+y, d.view.x0*c.h)
			}
			d.lastFlags = grow(d.lastFlags, n)
			last = d.lastFlags
			for i := range blocks {
				last[i] = lastIndex(&blocks[i])
			}
		} else {
			blocks, last = blocks[y*n:(y+1)*n], last[y*n:(y+1)*n]
		}
		inverse(c.strip[(1+8*y)*c.stride:], c.stride, blocks, last, &c.quant)
	}
	return nil
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

// writeRow converts row y of the image, from column x of the strips on. The strips
// hold MCU row my.
func (d *Decoder) writeRow(dst []byte, my, y, x int) {
	var rows [4][]byte
	for i := range d.components {
		rows[i] = d.fullRow(&d.components[i], d.planes[i], my, y)[x:]
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
// resolution. It may write them to plane.
func (d *Decoder) fullRow(c *component, plane []byte, my, y int) []byte {
	at := y / c.vx
	near := c.stripRow(my, at)
	switch c.filter {
	case filterNone:
		return near
	case filterRepeat:
		repeat(plane, near, c.hx)
		return plane
	}
	near = near[:min(c.stride, c.wide-d.view.x0*c.h*8)]
	if c.filter == filterH2 {
		upsampleH2(plane, near)
		return plane
	}
	beyond, bias := max(at-1, 0), int32(1)
	if y%2 == 1 {
		beyond, bias = min(at+1, c.high-1), 2
	}
	far := c.stripRow(my, beyond)[:len(near)]
	if c.filter == filterV2 {
		upsampleV2(plane, near, far, bias)
	} else {
		upsampleH2V2(plane, near, far)
	}
	return plane
}

// stripRow returns row at of the component. The strip holds MCU row my and the
// row above.
func (c *component) stripRow(my, at int) []byte {
	i := (at - my*8*c.v + 1) * c.stride
	return c.strip[i : i+c.stride]
}
