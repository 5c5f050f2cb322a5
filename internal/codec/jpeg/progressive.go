package jpeg

import (
	"encoding/binary"
	"math/bits"
)

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
		if err := d.stopped(); err != nil {
			return err
		}
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

// A line is every step-th block of a row: those at one place of their MCUs.
type line struct {
	blocks    []block
	step      int
	table     *huffman
	predicted *int32 // the last DC coefficient of the component
}

// decodeDC decodes a progressive scan of DC coefficients.
func (d *Decoder) decodeDC() error {
	s := &d.scan
	var store [10]line // the most blocks of an MCU
	if len(s.components) == 1 {
		ci := s.components[0]
		c := &d.components[ci]
		wide, high := ceil(c.wide, 8), ceil(c.high, 8)
		for y := range high {
			lines := append(store[:0], line{c.coefficients[y*c.across:], 1, s.dc[0], &s.predicted[0]})
			if done, err := d.decodeLines(lines, wide); done || err != nil {
				d.whole = y / d.config.Sampling[ci].V
				return err
			}
		}
		return nil
	}
	for my := range d.mcuHigh {
		lines := store[:0]
		for i, ci := range s.components {
			c := &d.components[ci]
			for y := range c.v {
				row := c.coefficients[(my*c.v+y)*c.across:]
				for x := range c.h {
					lines = append(lines, line{row[x:], c.h, s.dc[i], &s.predicted[i]})
				}
			}
		}
		if done, err := d.decodeLines(lines, d.mcuWide); done || err != nil {
			d.whole = my
			return err
		}
	}
	return nil
}

// decodeLines decodes DC coefficients of a row of MCUs. The scan is done if the file has
// ended and may end early.
func (d *Decoder) decodeLines(lines []line, wide int) (done bool, err error) {
	if err := d.stopped(); err != nil {
		return false, err
	}
	for x := 0; x < wide; {
		n, err := d.within(wide - x)
		if err != nil {
			return false, err
		}
		ok := true
		if d.scan.high == 0 {
			ok = d.scan.firstDC(lines, x, n)
		} else {
			d.scan.refineDC(lines, x, n)
		}
		if done, err := d.judge(ok); done || err != nil {
			return done, err
		}
		x += n
	}
	return false, nil
}

// firstDC reads DC coefficients of n MCUs from MCU x on, without their lowest bits, up
// to an MCU that is invalid or goes beyond the interval. It reports whether the code is
// valid.
func (s *scan) firstDC(lines []line, x, n int) bool {
	r := s.reader
	ok := true
	for m := x; m < x+n; m++ {
		for i := range lines {
			l := &lines[i]
			r.refill()
			e := l.table.pairs.entries[r.acc>>(64-pairBits)]
			if e&63 != 0 {
				power := int64(e) >> 48
				*l.predicted += int32(values[(int64(r.acc>>((64-e)&63))&^power-power)&int64(len(values)-1)])
				r.drop(uint(e & 63))
			} else {
				ok = r.difference(l.table, l.predicted) && ok
			}
			l.blocks[m*l.step][0] = int16(*l.predicted << s.low)
		}
		if !ok || r.overrun() {
			break
		}
	}
	s.reader = r
	return ok
}

// refineDC reads one more bit of DC coefficients of n MCUs from MCU x on, up to an MCU
// that goes beyond the interval.
func (s *scan) refineDC(lines []line, x, n int) {
	r := &s.reader
	for m := x; m < x+n; m++ {
		r.refill()
		for i := range lines {
			l := &lines[i]
			l.blocks[m*l.step][0] |= int16(r.take(1) << s.low)
		}
		if r.overrun() {
			break
		}
	}
}

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

// A refinement is what a refinement scan says about a block. Bit k of a mask is the
// coefficient at place k of the stream. The masks without a name are for the kernels only.
type refinement struct {
	zeros uint64 // of the selection
	left  uint64 // the other coefficients of the selection
	_     uint64 // those whose next bit is 1
	fresh uint64 // new coefficients
	_     uint64 // those of them that are below zero
}

// refineMost is how many blocks a refiner decodes at once. It is enough for a row of
// most photos.
const refineMost = 64

// A refiner decodes refinements of AC coefficients by a kernel. It takes the bits of the
// stream from the lowest, so that the next ones can be deposited at the places of a mask.
//
// The index into the table's entries is the next pairBits bits. The parts of an entry
// are, from the lowest bit:
//
//	 0: 6 bits  how many bits the symbol takes, with its sign
//	 6: 1 bit   the code is longer or invalid, or the symbol is 16 zeros or ends several blocks
//	16: 16 bits 1<<zeros: which of the zeros is the new coefficient; 0 at a block's end
//	32: 8 bits  -1 if it is negative, else 0
type refiner struct {
	table    pairs
	blocks   [refineMost + 1]refinement
	reversed []byte // refineMargin bytes, and the stream with each byte's lowest bit first
	state    [3]uint64
}

const (
	refineRare   = 1 << 6
	refineMargin = 8 // of which the kernel may read
)

// open prepares a refinement scan of AC coefficients.
func (t *refiner) open(s *scan, st *stream) {
	t.build(s.ac[0])
	t.reversed = grow(t.reversed, refineMargin+len(st.bytes))
	reverseBits(&t.reversed[refineMargin], &st.bytes[0], len(st.bytes)/32) // the slack is longer
}

// build makes the entries of a valid table.
func (t *refiner) build(h *huffman) {
	p := &t.table
	p.describe(h)
	for i := range p.entries {
		p.entries[i] = refineRare
	}
	code, k := 0, 0
	for length := 1; length <= pairBits; length++ {
		for range h.count[length-1] {
			t.add(int(bits.Reverse16(uint16(code))>>(16-length)), length, h.symbol[k])
			code++
			k++
		}
		code <<= 1
	}
}

// add makes the entries of a symbol. Code has the first bit lowest.
func (t *refiner) add(code, length int, symbol uint8) {
	run, size := int(symbol>>4), symbol&15
	fill := func(bits, n int, e uint64) {
		for i := code | bits<<length; i < len(t.table.entries); i += 1 << (length + n) {
			t.table.entries[i] = e | uint64(length+n)
		}
	}
	switch {
	case symbol == 0:
		fill(0, 0, 0)
	case size == 1 && length < pairBits:
		fill(0, 1, 1<<(16+run)|0xff<<32)
		fill(1, 1, 1<<(16+run))
	}
}

// decode reads the scan's part of blocks in zigzag order. If it reports false, nothing has
// changed.
func (t *refiner) decode(s *scan, blocks []block, nonzero []uint64) bool {
	selection := s.selection()
	for j, set := range nonzero {
		t.blocks[j] = refinement{zeros: selection &^ set, left: selection & set}
	}
	r := &s.reader
	t.state = [3]uint64{uint64(r.at*8 - int(r.n)), uint64(s.run)}
	if !refinePlaces(&t.state[0], &t.reversed[refineMargin], r.end, &t.table.entries[0], &t.blocks[0].zeros, len(blocks)) {
		return false
	}
	fresh := 0
	for j := range blocks {
		fresh += bits.OnesCount64(t.blocks[j].fresh)
	}
	at := int(t.state[0])
	if fresh != int(t.state[2]) || at > 8*r.end { // a new coefficient is beyond the selection
		return false
	}
	for j := range blocks {
		nonzero[j] |= t.blocks[j].fresh
	}
	refineKernel(&blocks[0], &t.blocks[0].zeros, len(blocks), 1<<s.low)
	s.run = int(t.state[1])
	r.at, r.acc, r.n = at>>3, 0, 0
	r.refill()
	r.drop(uint(at & 7))
	return true
}

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
