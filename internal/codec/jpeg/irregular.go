package jpeg

// The code here reads AC coefficients of progressive scans one symbol after the other,
// without knowing which coefficients are zero. Files need it whose scans repeat
// coefficients or write them beyond their selections, which no encoder does.

// irregularBlocks reads the scan's part of a row of blocks, up to one that is invalid
// or goes beyond the interval. It reports whether the code is valid.
func (s *scan) irregularBlocks(blocks []block) bool {
	for i := range blocks {
		ok := true
		if s.high == 0 {
			ok = s.firstAC(&blocks[i])
		} else {
			ok = s.refineAC(&blocks[i])
		}
		if !ok || s.reader.overrun() {
			return ok
		}
	}
	return true
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
		b[s.place[min(k, 63)]] = int16(extend(r.acc, size) << s.low) // also beyond the selection, as in libjpeg
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
				b[s.place[min(k, 63)]] = value
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
		c := &b[s.place[k]]
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
