package jpeg

import "math/bits"

// refineBlocks reads one more bit of AC coefficients of a row of blocks, up to a block
// that is invalid or goes beyond the interval. It reports whether the code is valid.
// nonzero says which coefficients are not zero. Source: section G.1.2.3 of the standard.
func (d *Decoder) refineBlocks(blocks []block, nonzero []uint64) bool {
	s := &d.scan
	for len(blocks) > 0 {
		if s.run > 0 && nonzero[0]&s.selection() == 0 { // no bit is about this block
			s.run--
			blocks, nonzero = blocks[1:], nonzero[1:]
			continue
		}
		n := min(len(blocks), refineMost)
		if d.zigzag && d.progression.refiner.decode(s, blocks[:n], nonzero[:n]) {
			blocks, nonzero = blocks[n:], nonzero[n:]
			continue
		}
		for j := range n {
			ok := d.refineBlock(&blocks[j], &nonzero[j])
			if !ok || s.reader.overrun() {
				return ok
			}
		}
		blocks, nonzero = blocks[n:], nonzero[n:]
	}
	return true
}

// selection is the mask of the coefficients that the scan may have.
func (s *scan) selection() uint64 { return ^uint64(0) << s.from & (^uint64(0) >> (63 - s.to)) }

func (d *Decoder) refineBlock(b *block, nonzero *uint64) bool {
	s := &d.scan
	r := s.reader
	old := s.selection() & *nonzero // whose bits have not been read
	zeros := s.selection() &^ old
	for s.run == 0 && old|zeros != 0 {
		symbol, ok := r.code(s.ac[0])
		if !ok {
			s.reader = r
			return false
		}
		run, size := symbol>>4, symbol&15
		value := int16(0)
		switch {
		case size == 1:
			value = int16(r.take(1)*2-1) << s.low
		case size > 1:
			s.reader = r
			return false
		case run < 15:
			s.run = 1<<run + int(r.take(run))
		}
		if s.run > 0 {
			break
		}
		place := zeros // of the new coefficient, or 0 beyond the selection
		for ; run > 0; run-- {
			place &= place - 1
		}
		place &= -place
		s.correct(&r, b, old&(place-1))
		if place == 0 {
			old, zeros = 0, 0
		} else {
			old &= -place
			zeros &= -place << 1
		}
		switch {
		case value == 0:
		case place == 0: // as in libjpeg
			b[s.place[min(s.to+1, 63)]] = value
			d.irregular = true
		default:
			b[s.place[bits.TrailingZeros64(place)]] = value
			*nonzero |= place
		}
	}
	if s.run > 0 {
		s.correct(&r, b, old)
		s.run--
	}
	s.reader = r
	return true
}

// correct reads one more bit of the coefficients at these places.
func (s *scan) correct(r *reader, b *block, places uint64) {
	for ; places != 0; places &= places - 1 {
		if r.n == 0 {
			r.refill()
		}
		c := &b[s.place[bits.TrailingZeros64(places)]]
		bit := int16(r.acc>>63) << (s.low & 15)
		r.drop(1)
		sign := *c >> 15
		*c += (bit ^ sign) - sign
	}
}
