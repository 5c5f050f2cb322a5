package jpeg

import "encoding/binary"

// regularLow is the greatest number of missing bits for which no value of an entry of
// pairs becomes zero when it is scaled. Encoders leave three at most.
const regularLow = 5

// openFirst prepares the first scan of AC coefficients. Places are counted so that every
// selection ends at place 63.
func (p *progression) openFirst(s *scan) {
	p.pairs.ready, p.pairs.runs = false, true
	p.pairs.build(s.ac[0])
	for i, e := range p.pairs.entries {
		sets := uint32(0)
		if e>>32&0xffff != 0 {
			sets = 1 << (e >> 8 & 31)
		}
		if e>>48 != 0xffff && e&pairEnds == 0 {
			sets |= 1 << ((e>>24 - 1) & 31)
		}
		p.sets[i] = sets
	}
	for k := range p.place {
		p.place[k] = s.place[uint8(max(0, k-63+s.to))]
	}
}

// firstBlocks reads AC coefficients of a row of blocks without their lowest bits, up to
// a block that is invalid or goes beyond the interval. It reports whether the code is
// valid. nonzero gets the coefficients' bits. Source: section G.1.2.2 of the standard.
func (d *Decoder) firstBlocks(blocks []block, nonzero []uint64) bool {
	s, p := &d.scan, d.progression
	stream, at, acc, n := s.reader.bytes, s.reader.at, s.reader.acc, s.reader.n
	limit := 8 * s.reader.end
	shift := uint(63 - s.to)
	from, low := uint(s.from)+shift, s.low&15
	j := min(s.run, len(blocks))
	s.run -= j
	ok := true
	for ; j < len(blocks); j++ {
		b := &blocks[j]
		sets, run := uint64(0), 0
		k := from // the next coefficient
		for k < 64 {
			acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
			at += int(63-n) >> 3
			n |= 56
			var e, index uint64
			var next uint
			for range 3 { // 56 bits are ready, and each entry takes pairMost at most
				i := acc >> (64 - pairBits)
				e = p.pairs.entries[i]
				power := uint64(int64(e) >> 48)
				index = acc>>((64-e)&63)&^power - power
				acc <<= e & 63
				n -= uint(e & 63)
				next = k + uint(uint8(e>>24))
				if next|uint(e)&pairEnds >= 64 {
					goto last
				}
				sets |= uint64(p.sets[i]) << (k & 63)
				b[p.place[uint8(k+uint(uint8(e>>8)))]&63] = int16(e>>32) << low
				b[p.place[uint8(next-1)]&63] = values[index&uint64(len(values)-1)] << low
				k = next
			}
			continue

		last:
			if next <= 64 {
				if v := int16(e >> 32); v != 0 {
					k += uint(uint8(e >> 8))
					sets |= 1 << (k & 63)
					b[p.place[uint8(k)]&63] = v << low
				}
				if e&pairEnds != 0 {
					run = int(index) - 1
				} else if v := values[index&uint64(len(values)-1)]; v != 0 {
					sets |= 1 << 63
					b[p.place[63]&63] = v << low
				}
				break
			}
			bit := at*8 - int(n+uint(e&63))
			one := reader{bytes: stream, at: bit >> 3}
			one.refill()
			one.drop(uint(bit & 7))
			var symbol uint
			if symbol, ok = one.code(s.ac[0]); !ok {
				at, acc, n = one.at, one.acc, one.n
				break
			}
			zeros, size := symbol>>4, symbol&15
			switch {
			case size > 0:
				k += zeros
				v := int16(extend(one.acc, size) << low)
				one.drop(size)
				if k < 64 {
					b[p.place[k]&63] = v
					if v != 0 {
						sets |= 1 << k
					}
				} else { // as in libjpeg
					b[s.place[min(k-shift, 63)]] = v
					d.irregular = true
				}
				k++
			case zeros == 15:
				k += 16
			default:
				run = 1<<zeros - 1 + int(one.take(zeros))
				k = 64
			}
			at, acc, n = one.at, one.acc, one.n
		}
		nonzero[j] |= sets >> (shift & 63)
		if !ok || at*8-int(n) > limit {
			break
		}
		skipped := min(run, len(blocks)-1-j)
		j += skipped
		s.run = run - skipped
	}
	s.reader.at, s.reader.acc, s.reader.n = at, acc, n
	return ok
}
