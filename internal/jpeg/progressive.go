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

// firstDC reads a block's DC coefficient without its lowest bits.
func (r *reader) firstDC(b *block, dc *huffman, predicted *int32, low uint) bool {
	size, ok := r.code(dc)
	if size > 0 {
		*predicted += extend(r.acc, size)
		r.drop(size)
	}
	b[0] = int16(*predicted << low)
	return ok
}

// refineDC reads one more bit of a block's DC coefficient.
func (r *reader) refineDC(b *block, low uint) {
	r.refill()
	b[0] |= int16(r.take(1) << low)
}

// firstAC reads coefficients of a block without their lowest bits. It reports
// whether the code is valid. Source: section G.1.2.2 of the standard.
func (s *scan) firstAC(b *block) bool {
	if s.run > 0 {
		s.run--
		return true
	}
	r, h := &s.reader, s.ac[0]
	for k := uint(s.from); k <= uint(s.to); k++ {
		symbol, ok := r.code(h)
		if !ok {
			return false
		}
		zeros, size := symbol>>4, symbol&15
		if size == 0 {
			if zeros < 15 {
				s.run = 1<<zeros - 1 + int(r.take(zeros))
				return true
			}
			k += 15
			continue
		}
		k += zeros
		b[zigzag[min(k, 63)]] = int16(extend(r.acc, size) << s.low) // also beyond the selection, as in libjpeg
		r.drop(size)
	}
	return true
}

// refineAC reads one more bit of coefficients of a block. It reports whether the
// code is valid. Source: section G.1.2.3 of the standard.
func (s *scan) refineAC(b *block) bool {
	r, h := &s.reader, s.ac[0]
	k, to := uint(s.from), uint(s.to)
	if s.run == 0 {
		for ; k <= to; k++ {
			symbol, ok := r.code(h)
			if !ok {
				return false
			}
			zeros, size := symbol>>4, symbol&15
			value := int16(0)
			switch {
			case size == 1:
				value = -1 << s.low
				if r.take(1) == 1 {
					value = 1 << s.low
				}
			case size > 1:
				return false
			case zeros < 15:
				s.run = 1<<zeros + int(r.take(zeros))
			}
			if s.run > 0 {
				break
			}
			k = s.refineRun(b, k, zeros)
			if value != 0 {
				b[zigzag[min(k, 63)]] = value
			}
		}
	}
	if s.run > 0 {
		s.refineRun(b, k, 64)
		s.run--
	}
	return true
}

// refineRun reads a bit of every nonzero coefficient from k on, until it has passed
// this number of zeros. It returns the index of the next zero, or one beyond the
// selection.
func (s *scan) refineRun(b *block, k, zeros uint) uint {
	r := &s.reader
	bit := int16(1) << s.low
	for ; k <= uint(s.to); k++ {
		c := &b[zigzag[k]]
		if *c == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if r.n == 0 {
			r.refill()
		}
		if r.take(1) == 1 && *c&bit == 0 {
			if *c > 0 {
				*c += bit
			} else {
				*c -= bit
			}
		}
	}
	return k
}
