package jpeg

import "encoding/binary"

// regularLow is the greatest number of missing bits for which no value of an entry of
// pairs becomes zero when it is scaled. Encoders leave three at most.
const regularLow = 5

// pairsMost is the least selection whose blocks seldom end by its last coefficient.
// There pairs would straddle the end.
const pairsMost = 16

// openFirst prepares the first scan of AC coefficients. Places are counted so that every
// selection ends at place 63.
func (p *progression) openFirst(s *scan) {
	p.pairs.progressive = true
	p.pairs.addFirst(s.ac[0])
	if s.to-s.from >= pairsMost {
		p.pairs.addSecond(s.ac[0])
	}
	for i, e := range p.pairs.entries {
		sets := uint32(0)
		if v := uint16(e >> 32); v != 0 {
			sets = 1 << (e >> 8 & 31)
			p.pairs.entries[i] = e&^(0xffff<<32) | uint64(v<<s.low)<<32
		}
		if e>>48 != 0xffff {
			sets |= 1 << ((e>>24 - 1) & 31)
		}
		p.sets[i] = sets
	}
	for k := range p.place {
		p.place[k] = s.place[uint8(max(0, k-63+s.to))]
	}
}

// firstKernel is firstBlocks for blocks in zigzag order. If it reports false, nothing has
// changed.
func (p *progression) firstKernel(s *scan, blocks []block, nonzero []uint64) bool {
	next := s.reader
	p.state = [4]uint64{uint64(next.at), next.acc, uint64(next.n)}
	ok := decodeFirst(&p.state[0], &next.bytes[0], next.end, &p.pairs.entries[0], &values[0],
		&blocks[0][s.from], len(blocks), s.to-s.from+1, int(s.low))
	next.at, next.acc, next.n = int(p.state[0]), p.state[1], uint(p.state[2])
	if !ok || next.overrun() {
		for i := range blocks {
			clear(blocks[i][s.from : s.to+1])
		}
		return false
	}
	s.reader, s.run = next, int(p.state[3])
	nonzeroKernel(nonzero, blocks)
	return true
}

// firstBlocks reads AC coefficients of a row of blocks without their lowest bits, up to
// a block that is invalid or goes beyond the interval. It reports whether the code is
// valid. nonzero gets the coefficients' bits. Source: section G.1.2.2 of the standard.
func (d *Decoder) firstBlocks(blocks []block, nonzero []uint64) bool {
	s, p := &d.scan, d.progression
	j := min(s.run, len(blocks))
	s.run -= j
	if d.zigzag && j < len(blocks) && p.firstKernel(s, blocks[j:], nonzero[j:]) {
		return true
	}
	stream, at, acc, n := s.reader.bytes, s.reader.at, s.reader.acc, s.reader.n
	limit := 8 * s.reader.end
	shift := uint(63 - s.to)
	from, low := uint(s.from)+shift, s.low&15
	ok := true
	for ; j < len(blocks); j++ {
		b := &blocks[j]
		sets, run := uint64(0), 0
		k := from // the next coefficient
		for k < 64 {
			acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
			at += int(63-n) >> 3
			n |= 56
			var e uint64
			var value int16
			var next uint
			for range 3 { // 56 bits are ready, and each entry takes pairMost at most
				i := acc >> (64 - pairBits)
				e = p.pairs.entries[i]
				power := int64(e) >> 48
				value = values[(int64(acc>>((64-e)&63))&^power-power)&int64(len(values)-1)] << low
				acc <<= e & 63
				n -= uint(e & 63)
				next = k + uint(uint8(e>>24))
				if next|uint(e)&pairEnds >= 64 {
					goto last
				}
				sets |= uint64(p.sets[i]) << (k & 63)
				b[p.place[uint8(k+uint(uint8(e>>8)))]&63] = int16(e >> 32)
				b[p.place[uint8(next-1)]&63] = value
				k = next
			}
			continue

		last:
			if next <= 64 {
				if v := int16(e >> 32); v != 0 {
					k += uint(uint8(e >> 8))
					sets |= 1 << (k & 63)
					b[p.place[uint8(k)]&63] = v
				}
				if value != 0 {
					sets |= 1 << 63
					b[p.place[63]&63] = value
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
