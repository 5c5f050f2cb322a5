package jpeg

// Where a kernel can, samples of the only scan are computed from a stretch as soon as it
// is decoded, while its blocks are in the cache. Otherwise a row of MCUs is decoded
// first.

// openDirect says whether samples can be computed from stretches of the scan.
func (t *stretch) openDirect(d *Decoder) {
	t.direct = t.mcus > 0 && fours() && !d.buffered
	for i, ci := range d.scan.components {
		c := &d.components[ci]
		if c.h == 3 {
			t.direct = false
		}
		for k, at := range zigzag[:64] {
			t.quant[i][k] = c.quant[at]
		}
	}
}

// inverseStretch writes the samples of a stretch of n MCUs, from MCU x of the view on.
func (p *painter) inverseStretch(x, n int) {
	d, first := p.d, 0
	for i, ci := range d.scan.components {
		c := &d.components[ci]
		for y := range c.v {
			d.stretch.inverse(p.strips[ci][(1+8*y)*c.stride+8*c.h*x:], c.stride, first+y*c.h, c.h, n, &d.stretch.quant[i])
		}
		first += c.h * c.v
	}
	d.stretch.dirty = 0
}

// inverseMCUs writes the samples of n MCUs in the components' rows, from MCU x of the
// view on.
func (p *painter) inverseMCUs(x, n int) {
	wide := p.d.view.x1 - p.d.view.x0
	for i := range p.d.components {
		c := &p.d.components[i]
		for y := range c.v {
			at := (y*wide + x) * c.h
			inverse(p.strips[i][(1+8*y)*c.stride+8*c.h*x:], c.stride, c.row[at:at+n*c.h], c.last[at:at+n*c.h], &c.quant)
		}
	}
}

// inverse writes the samples of n MCUs into eight rows of dst, and clears the blocks: h
// blocks per MCU, which are blocks first to first+h-1 of it. It may overwrite the three
// blocks after them in dst. Quant is in zigzag order.
func (t *stretch) inverse(dst []byte, stride, first, h, n int, quant *block) {
	const size = 2 * 64 // bytes of a block
	second, third, step := size*t.per, 2*size*t.per, 4*size*t.per
	switch h {
	case 2:
		second, third, step = size, size*t.per, 2*size*t.per
	case 4:
		second, third, step = size, 2*size, size*t.per
	}
	fours := ceil(n*h, 4)
	_ = dst[7*stride+32*fours-1]
	for i := 0; i < fours; i++ {
		at := first + 4*i/h*t.per + 4*i%h
		_ = t.blocks[at+(second+third)/size]
		i += fours - i - inverseStretch4(&dst[32*i], stride, &t.blocks[at][0], second, third, step, &quant[0], fours-i)
		if i < fours {
			t.inverseWild(dst[32*i:], stride, first, h, 4*i, quant)
		}
	}
}

// inverseWild is inverse for four blocks that the kernel does not take, from the i-th on.
func (t *stretch) inverseWild(dst []byte, stride, first, h, i int, quant *block) {
	var blocks [4]block
	var natural block
	for k, at := range zigzag[:64] {
		natural[at] = quant[k]
	}
	for j := range blocks {
		b := &t.blocks[first+(i+j)/h*t.per+(i+j)%h]
		for k, at := range zigzag[:64] {
			blocks[j][at] = b[k]
		}
		*b = block{}
	}
	last := [4]uint8{63, 63, 63, 63}
	inversePortable(dst, stride, blocks[:], last[:], &natural)
}
