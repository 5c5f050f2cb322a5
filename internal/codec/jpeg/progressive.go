package jpeg

// checkProgress checks that a progressive scan continues the earlier ones. Source:
// section G.1.1.1 of the standard.
func (d *Decoder) checkProgress(at int) error {
	s := &d.scan
	switch {
	case s.from == 0 && s.to != 0, s.from > s.to, s.to > 63:
		return corrupt(at, "spectral selection %d to %d", s.from, s.to)
	case s.from > 0 && len(s.components) > 1:
		return corrupt(at, "scan of %d components with AC coefficients", len(s.components))
	case s.low > 13, s.high != 0 && s.high != s.low+1:
		return corrupt(at, "successive approximation %d to %d", s.high, s.low)
	}
	for _, ci := range s.components {
		c := &d.components[ci]
		if s.from > 0 && c.progress[0] < 0 {
			return corrupt(at, "AC scan before the DC scan of component %d", ci)
		}
		for k := s.from; k <= s.to; k++ {
			if have := max(0, c.progress[k]); int(have) != int(s.high) {
				return corrupt(at, "scan of component %d refines coefficient %d of %d missing bits from bit %d", ci, k, have, s.high)
			}
		}
	}
	return nil
}

// advance updates the progress of the scan's components. In a sequential file a scan
// has all bits of all coefficients, and the selection in its header is ignored.
func (d *Decoder) advance() {
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		if !d.config.Progressive {
			c.progress[0] = 0
			continue
		}
		if d.scans > 1 {
			copy(c.before[1:], c.progress[1:smoothed])
		} else {
			c.before = [smoothed]int8{}
		}
		for k := d.scan.from; k <= d.scan.to; k++ {
			c.progress[k] = int8(d.scan.low)
		}
	}
}

// A progression is what progressive scans need besides the image's coefficients.
type progression struct {
	pairs pairs                 // of the scan's AC table
	sets  [1 << pairBits]uint32 // by entry: which coefficients it sets; bit 0 is the next one
	place [256]uint8            // by 63 minus the distance to the selection's end: place in a block
	state [4]uint64

	refiner refiner
}

// open prepares an AC scan.
func (d *Decoder) openAC() {
	s := &d.scan
	c := &d.components[s.components[0]]
	if d.progression == nil {
		d.progression = &progression{}
	}
	for _, bits := range c.progress[s.from : s.to+1] {
		d.irregular = d.irregular || s.high == 0 && bits >= 0
	}
	d.irregular = d.irregular || s.low > regularLow
	switch {
	case d.irregular:
	case s.high == 0:
		d.progression.openFirst(s)
	case d.zigzag:
		d.progression.refiner.open(s, &d.stream)
	}
}

// decodeProgressive decodes a scan of a progressive file into the coefficients.
func (d *Decoder) decodeProgressive() error {
	d.whole = d.mcuHigh
	if d.scan.from == 0 {
		return d.decodeDC()
	}
	ci := d.scan.components[0]
	c := &d.components[ci]
	wide, high := ceil(c.wide, 8), ceil(c.high, 8)
	for y := range high {
		row, nonzero := c.coefficients[y*c.across:][:wide], c.nonzero[y*c.across:][:wide]
		for x := 0; x < wide; {
			n, err := d.within(wide - x)
			if err != nil {
				return err
			}
			ok := d.decodeAC(row[x:x+n], nonzero[x:x+n])
			if done, err := d.judge(ok); done || err != nil {
				d.whole = y / d.config.Sampling[ci].V
				return err
			}
			x += n
		}
	}
	return nil
}

// decodeAC reads the scan's part of a row of blocks, up to one that is invalid or goes
// beyond the interval. It reports whether the code is valid.
func (d *Decoder) decodeAC(blocks []block, nonzero []uint64) bool {
	switch {
	case d.irregular:
		return d.scan.irregularBlocks(blocks)
	case d.scan.high == 0:
		return d.firstBlocks(blocks, nonzero)
	}
	return d.refineBlocks(blocks, nonzero)
}

// natural copies stored blocks, which become row by row.
func (d *Decoder) natural(dst, src []block) {
	if d.zigzag {
		naturalKernel(&dst[0], &src[0], len(dst))
	} else {
		copy(dst, src)
	}
}

// within is between for as many of the next n MCUs as are in one interval. It returns
// how many these are.
func (d *Decoder) within(n int) (int, error) {
	if err := d.between(); err != nil {
		return 0, err
	}
	if d.interval > 0 {
		n = min(n, d.stream.remaining+1)
		d.stream.remaining -= n - 1
	}
	return n, nil
}

// code takes the next symbol. At least 40 valid bits remain. ok is false if no
// symbol has the code.
func (r *reader) code(h *huffman) (symbol uint, ok bool) {
	r.refill()
	if c := h.codes[r.acc>>(64-codeBits)]; c != 0 {
		r.drop(uint(c >> 8))
		return uint(uint8(c)), true
	}
	s, length := h.search(uint32(r.acc >> 48))
	r.drop(uint(length))
	return uint(s), length > 0
}

// take takes n bits, at most 16. They must be valid.
func (r *reader) take(n uint) int32 {
	v := int32(r.acc >> 32 >> ((32 - n) & 63))
	r.drop(n)
	return v
}
