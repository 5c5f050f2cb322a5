package jpeg

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// A scan is one pass of entropy code over some components. Source: section B.2.3 of
// the standard.
type scan struct {
	components []int // in the order of the scan
	order      [4]int
	dc, ac     [4]*huffman // by index in the scan
	from, to   int         // spectral selection
	high, low  uint        // successive approximation: previous and present point transform
	predicted  [4]int32    // the last DC coefficients, by index in the scan
	run        int         // how many more blocks have no further coefficients
	place      *[256]uint8 // of coefficients in stored blocks, if progressive
	again      bool        // an earlier scan had coefficients of some of the components
	reader     reader
}

// readScanHeader reads the scan header at offset at. It returns the offset of the
// entropy code.
func (d *Decoder) readScanHeader(at int) (int, error) {
	segment, err := d.segment(at)
	if err != nil {
		return 0, err
	}
	s := &d.scan
	if len(segment) == 0 {
		return 0, corrupt(at, "scan header of 0 bytes")
	}
	n := int(segment[0])
	if n < 1 || n > len(d.components) || len(segment) != 4+2*n {
		return 0, corrupt(at, "scan header of %d bytes for %d components", len(segment), n)
	}
	s.components = s.order[:0]
	blocks := 0
	spec := segment[1+2*n:]
	s.from, s.to = int(spec[0]), int(spec[1])
	s.high, s.low = uint(spec[2]>>4), uint(spec[2]&15)
	for i := range n {
		id, tables := segment[1+2*i], segment[2+2*i]
		ci, err := d.find(at, i, id)
		if err != nil {
			return 0, err
		}
		s.components = append(s.components, ci)
		c := &d.components[ci]
		blocks += c.h * c.v
		if err := d.chooseTables(at, i, tables); err != nil {
			return 0, err
		}
		if !c.latched {
			if c.table > 3 || !d.hasQuant[c.table] {
				return 0, corrupt(at, "quantisation table %d is missing", c.table)
			}
			c.quant, c.latched = d.quant[c.table], true
		}
	}
	if n > 1 && blocks > 10 {
		return 0, corrupt(at, "MCU of %d blocks", blocks)
	}
	if d.config.Progressive {
		if err := d.checkProgress(at); err != nil {
			return 0, err
		}
	}
	return at + 2 + len(segment), nil
}

// find returns the index of the component with this id, which is the scan's i-th.
// As in libjpeg-turbo, it looks only from the frame's i-th component on, so most
// scans in another order than the frame's are errors.
func (d *Decoder) find(at, i int, id uint8) (int, error) {
	for ci := i; ci < len(d.components); ci++ {
		if d.components[ci].id == id && !slices.Contains(d.scan.components, ci) {
			return ci, nil
		} else if d.components[ci].id == id {
			break
		}
	}
	return 0, corrupt(at, "scan of component %d, which the frame does not have or has in another order", id)
}

// chooseTables sets the Huffman tables that the scan uses for its i-th component. In
// sequential files, missing tables are those of the standard, as motion JPEG needs.
func (d *Decoder) chooseTables(at, i int, tables uint8) error {
	s, progressive := &d.scan, d.config.Progressive
	if !progressive || s.from == 0 && s.high == 0 {
		id := tables >> 4
		if id < 2 && !d.hasDC[id] && !progressive {
			d.setHuffman(true, id, &standardDC[id].count, standardDC[id].symbol)
		}
		if id > 3 || !d.hasDC[id] {
			return corrupt(at, "DC Huffman table %d is missing", id)
		}
		s.dc[i] = &d.tables[id]
		if wrong := s.dc[i].wrong; wrong != "" {
			return corrupt(at, "DC Huffman table %d: %s", id, wrong)
		}
	}
	if !progressive || s.from > 0 {
		id := tables & 15
		if id < 2 && !d.hasAC[id] && !progressive {
			d.setHuffman(false, id, &standardAC[id].count, standardAC[id].symbol)
		}
		if id > 3 || !d.hasAC[id] {
			return corrupt(at, "AC Huffman table %d is missing", id)
		}
		s.ac[i] = &d.tables[4+id]
		if wrong := s.ac[i].wrong; wrong != "" {
			return corrupt(at, "AC Huffman table %d: %s", id, wrong)
		}
	}
	return nil
}

// start prepares the scan's tables, and the reader for the stream's first interval.
func (d *Decoder) start() {
	d.stretch.mcus = 0
	switch {
	case !d.config.Progressive:
		d.scan.again = false
		for i, ci := range d.scan.components {
			d.scan.again = d.scan.again || d.components[ci].progress[0] >= 0
			d.scan.dc[i].pairs.build(d.scan.dc[i])
			d.scan.ac[i].pairs.build(d.scan.ac[i])
		}
		d.stretch.open(d)
	case d.scan.from > 0:
		d.openAC()
	case d.scan.high == 0:
		for i := range d.scan.components {
			d.scan.dc[i].pairs.build(d.scan.dc[i])
		}
	}
	d.stream.next = 0
	d.restart()
}

// restart prepares the reader for the stream's next interval. After the last one
// that is an empty interval.
func (d *Decoder) restart() {
	s, st := &d.scan, &d.stream
	begin := 0
	if st.next > 0 {
		begin = st.ends[min(st.next, len(st.ends))-1]
	}
	end := st.ends[min(st.next, len(st.ends)-1)]
	s.reader = reader{bytes: st.bytes, at: begin, end: end}
	s.predicted = [4]int32{}
	s.run = 0
	st.next++
	st.remaining = d.interval
	if d.interval == 0 {
		st.remaining = -1
	}
}

// between is called before every MCU. It goes to the next interval if all MCUs of
// the current one have been read.
func (d *Decoder) between() error {
	st := &d.stream
	if st.remaining != 0 {
		st.remaining--
		return nil
	}
	if i := st.next - 1; i < len(st.restarts) {
		if want := uint8(markerRST0 + i%8); st.restarts[i] != want {
			return corrupt(st.offset(d.data, st.ends[i]), "restart marker %#x, want %#x", st.restarts[i], want)
		}
	} else if !(st.cut && d.AllowTruncated) {
		return d.cutShort()
	}
	d.restart()
	st.remaining--
	return nil
}

// cutShort is the error of a stream that holds fewer MCUs than the image. The end of the
// file cuts its last interval only: an earlier one that is too short is damage.
func (d *Decoder) cutShort() error {
	st := &d.stream
	if st.cut && st.next >= len(st.ends) {
		return truncated(len(d.data), "entropy code")
	}
	at := st.offset(d.data, st.ends[min(st.next, len(st.ends))-1])
	return corrupt(at, "entropy code ends before the image")
}

// broken is the error of a stream with an invalid code.
func (d *Decoder) broken() error {
	r := &d.scan.reader
	at := max(0, r.at-int(r.n)/8)
	return corrupt(d.stream.offset(d.data, at), "corrupt entropy code")
}

// openScan prepares the first scan for decoding from its start.
func (d *Decoder) openScan() error {
	at, err := d.readScanHeader(d.scanAt)
	if err != nil {
		return err
	}
	blocks := 0
	for i := range d.components {
		blocks += d.components[i].across * d.components[i].down
	}
	if (len(d.data)-at)*4 < blocks && !d.AllowTruncated {
		return truncated(len(d.data), "entropy code") // a block has at least two bits
	}
	if d.stream.from != at {
		d.stream.fill(d.data, at)
		d.endError = d.checkEnd(at)
	}
	if d.endError != nil && !(d.AllowTruncated && errors.Is(d.endError, io.ErrUnexpectedEOF)) {
		return d.endError
	}
	d.start()
	d.exhausted = false
	return nil
}

// decodeRow decodes a row of MCUs of the only scan. It keeps the coefficients of
// MCUs x0 to x1-1.
func (d *Decoder) decodeRow(x0, x1 int) error { return d.readRow(x0, x1, nil) }

// readRow is decodeRow. With a painter it keeps samples instead: in the painter's strips,
// next to the last row of those before.
func (d *Decoder) readRow(x0, x1 int, p *painter) error {
	if p != nil {
		for i := range d.components {
			p.keepLast(i)
		}
	}
	if p == nil {
		d.makeRow(x1 - x0)
	}
	if d.exhausted {
		d.makeRow(x1 - x0)
		d.clearRow(x1-x0, 0)
		if p != nil {
			p.inverseMCUs(0, x1-x0)
		}
		return nil
	}
	portable, cleared := 0, false // up to MCU portable, the kernel has refused them
	for mx := 0; mx < d.mcuWide; {
		if err := d.between(); err != nil {
			return err
		}
		if mx >= portable {
			end, inside := d.mcuWide, mx >= x0 && mx < x1
			if inside {
				end = x1
			} else if mx < x0 {
				end = x0
			}
			n, ok := d.fast(end-mx, inside)
			switch {
			case ok && inside && p != nil:
				p.inverseStretch(mx-x0, n)
			case ok && inside:
				d.storeRow(x1-x0, mx-x0, n)
			}
			if ok {
				mx += n
				continue
			}
			portable = mx + n
			if !cleared {
				d.makeRow(x1 - x0)
				d.clearRow(x1-x0, min(max(mx-x0, 0), x1-x0))
				cleared = true
			}
		}
		ok := d.decodeMCU(mx, x0, x1)
		if s := &d.scan; s.reader.overrun() {
			if d.mayEnd() {
				d.exhausted = true
				if x := max(mx, x0); p != nil && x < x1 {
					p.inverseMCUs(x-x0, x1-x)
				}
				return nil
			}
			return d.cutShort()
		}
		if !ok {
			return d.broken()
		}
		if p != nil && mx >= x0 && mx < x1 {
			p.inverseMCUs(mx-x0, 1)
		}
		mx++
	}
	return nil
}

// makeRow makes room for the coefficients of a row that keeps this number of MCUs.
func (d *Decoder) makeRow(wide int) {
	for i := range d.components {
		c := &d.components[i]
		n := wide * c.h * c.v
		c.row, c.last = grow(c.row, n), grow(c.last, n)
	}
}

// clearRow clears the row of MCUs, which keeps this number of them, from MCU x on.
func (d *Decoder) clearRow(wide, x int) {
	for i := range d.components {
		c := &d.components[i]
		for y := range c.v {
			clear(c.row[(y*wide+x)*c.h : (y+1)*wide*c.h])
			clear(c.last[(y*wide+x)*c.h : (y+1)*wide*c.h])
		}
	}
}

// storeRow stores a stretch of n MCUs from MCU x of the row on.
func (d *Decoder) storeRow(wide, x, n int) {
	first := 0
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		for y := range c.v {
			at := (y*wide + x) * c.h
			d.stretch.store(c.row[at:], c.last[at:], first+y*c.h, c.h, n)
		}
		first += c.h * c.v
	}
}

// decodeMCU decodes one MCU of the only scan, whose blocks must be zero. It reports
// whether the code is valid.
func (d *Decoder) decodeMCU(mx, x0, x1 int) bool {
	s, ok := &d.scan, true
	for i, ci := range s.components {
		c := &d.components[ci]
		dc, ac := s.dc[i], s.ac[i]
		if mx < x0 || mx >= x1 {
			for range c.h * c.v {
				ok = s.reader.skip(dc, ac, &s.predicted[i]) && ok
			}
			continue
		}
		for y := range c.v {
			first := (y*(x1-x0) + mx - x0) * c.h
			for j := first; j < first+c.h; j++ {
				last := s.reader.block(&c.row[j], dc, ac, &s.predicted[i])
				ok = last >= 0 && ok
				c.last[j] = uint8(last)
			}
		}
	}
	return ok
}

// block reads one block of a sequential scan into b, which must be zero. It
// returns the zigzag index of the last coefficient, or -1 if the code is invalid.
// Then the reader stays at the block's start. A coefficient beyond the block's end
// replaces its last one, as in libjpeg.
func (r *reader) block(b *block, dc, ac *huffman, predicted *int32) int {
	stream, at, acc, n := r.bytes, r.at, r.acc, r.n

	acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
	at += int(63-n) >> 3
	n |= 56
	e := dc.pairs.entries[acc>>(64-pairBits)]
	if e&63 == 0 {
		symbol, length := dc.search(uint32(acc >> 48))
		if length == 0 {
			return -1
		}
		acc <<= uint(length) & 63
		n -= uint(length)
		if size := uint(symbol); size > 0 {
			*predicted += extend(acc, size)
			acc <<= size & 63
			n -= size
		}
	} else {
		power := int64(e) >> 48
		*predicted += int32(values[(int64(acc>>((64-e)&63))&^power-power)&int64(len(values)-1)])
		acc <<= e & 63
		n -= uint(e & 63)
	}
	b[0] = int16(*predicted)

	k := uint(1) // the next coefficient
	for {
		acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
		at += int(63-n) >> 3
		n |= 56
		for range 3 { // 56 bits are ready, and each entry takes pairMost at most
			e = ac.pairs.entries[acc>>(64-pairBits)]
			power := int64(e) >> 48
			value := values[(int64(acc>>((64-e)&63))&^power-power)&int64(len(values)-1)]
			acc <<= e & 63
			n -= uint(e & 63)
			b[zigzag[uint8(k+uint(uint8(e>>8)))]&63] = int16(e >> 32)
			k += uint(uint8(e >> 24))
			b[zigzag[uint8(k-1)]&63] = value
			if k|uint(e)&pairEnds >= 64 {
				goto last
			}
		}
		continue

	last:
		// This is the block's last entry, unless it goes beyond the block or holds no
		// symbol. Then its first symbol is read alone.
		if k <= 64 {
			if e&pairEnds != 0 {
				k-- // the end of the block counted as a coefficient
			} else if k < 64 {
				continue
			}
			break
		}
		b[63] = 0 // undoes what the entry wrote
		k -= uint(uint8(e >> 24))
		bit := at*8 - int(n+uint(e&63))
		one := reader{bytes: stream, at: bit >> 3}
		one.refill()
		one.drop(uint(bit & 7))
		symbol, ok := one.code(ac)
		if !ok {
			return -1
		}
		size := symbol & 15
		switch {
		case size > 0:
			k += symbol>>4 + 1
			b[zigzag[uint8(k-1)]&63] = int16(extend(one.acc, size))
			one.drop(size)
		case symbol == 0xf0:
			k += 16
		}
		at, acc, n = one.at, one.acc, one.n
		if size == 0 && symbol != 0xf0 || k >= 64 {
			break
		}
	}
	r.at, r.acc, r.n = at, acc, n
	return int(min(k, 64)) - 1
}

// A stretch is some MCUs of a sequential scan, in a row and in one restart interval,
// whose blocks a kernel decodes at once. The kernel refuses a stretch with damage, or
// with what no encoder writes. Then the portable code decodes it from its start.
type stretch struct {
	blocks []block // of all MCUs in the scan's order, in zigzag order, and zeros
	steps  []step  // two for a block, and two more
	counts [4]int  // by index in the scan: blocks per MCU
	per    int     // blocks per MCU
	mcus   int     // how many MCUs a stretch may have, 0 if there is no kernel for the scan
	dirty  int     // how many blocks may have coefficients; the others are zero
	state  [3]uint64
	unread []uint8 // for the last places of buffered blocks
	off    bool    // tests compare with the portable code

	direct bool     // samples are computed from stretches
	quant  [4]block // by index in the scan, in zigzag order
}

// stretchBlocks is how many blocks a stretch has at most. With their steps and the
// tables of a scan they fit into a cache of 64 KB.
const stretchBlocks = 128

// zeroBlocks are blocks of three MCUs, which make the number of MCUs a multiple of four,
// and at least two, where the kernel writes zeros after the last step.
const zeroBlocks = 3 * 10

// A step is a DC difference or all other coefficients of a block.
type step struct {
	table *uint64 // its first entry
	place *int16  // of the first coefficient
	limit *int16  // the end of the block
}

// stop has entries that take no bits, for what the kernel decodes after the last step.
var stop = func() (p pairs) {
	for i := range p.entries {
		p.entries[i] = 1<<24 | 0xffff<<48
	}
	p.setHeads()
	return p
}()

// open prepares stretches of a sequential scan.
func (t *stretch) open(d *Decoder) {
	s := &d.scan
	t.direct = false
	if !pairsKernel() || s.again || t.off {
		return
	}
	if t.blocks == nil {
		t.blocks = make([]block, stretchBlocks+zeroBlocks)
		t.steps = make([]step, 2*stretchBlocks+2) // the kernel loads the step after stop's
		t.unread = make([]uint8, stretchBlocks)
	}
	t.per = 0
	wide := d.mcuWide
	for i, ci := range s.components {
		c := &d.components[ci]
		t.counts[i] = c.h * c.v
		if d.buffered && len(s.components) == 1 {
			t.counts[i], wide = 1, ceil(c.wide, 8)
		}
		t.per += t.counts[i]
	}
	t.mcus = stretchBlocks / t.per
	if t.mcus > 4 {
		t.mcus &^= 3 // kernels take four blocks at once
	}
	t.mcus = min(t.mcus, wide)
	j := 0
	for range t.mcus {
		for i := range s.components {
			dc, ac := &s.dc[i].pairs.entries[0], &s.ac[i].pairs.entries[0]
			for range t.counts[i] {
				b, limit := &t.blocks[j], &t.blocks[j+1][0]
				t.steps[2*j] = step{dc, &b[0], limit}
				t.steps[2*j+1] = step{ac, &b[1], limit}
				j++
			}
		}
	}
	t.openDirect(d)
}

// fast decodes at most this number of MCUs into the stretch, from the current one on. It
// returns how many it has tried, and whether the kernel has decoded them. If keep, store
// or inverse must follow for all blocks.
func (d *Decoder) fast(most int, keep bool) (n int, ok bool) {
	t, st := &d.stretch, &d.stream
	if t.mcus == 0 {
		return most, false
	}
	n = min(most, t.mcus)
	if d.interval > 0 {
		n = min(n, st.remaining+1)
	}
	if !t.decode(&d.scan, n, keep) {
		return n, false
	}
	if d.interval > 0 {
		st.remaining -= n - 1
	}
	return n, true
}

// decode decodes n MCUs. If it reports false, the scan is as before.
func (t *stretch) decode(s *scan, n int, keep bool) bool {
	dirty := max(t.dirty, n*t.per)
	if keep {
		clear(t.blocks[:t.dirty])
		dirty = n * t.per
	}
	t.dirty = len(t.blocks) // if the kernel refuses
	slack := t.blocks[stretchBlocks:]
	end := 2 * n * t.per
	after := t.steps[end]
	t.steps[end] = step{&stop.entries[0], &slack[0][0], &slack[1][0]}
	next := s.reader
	t.state = [3]uint64{uint64(next.at), next.acc, uint64(next.n)}
	ok := decodePairs(&t.state[0], &next.bytes[0], next.end, &t.steps[0].table, end, &values[0])
	t.steps[end] = after
	next.at, next.acc, next.n = int(t.state[0]), t.state[1], uint(t.state[2])
	if !ok || next.overrun() {
		return false
	}
	s.reader = next

	t.dirty = dirty
	first := 0
	for i, count := range t.counts[:len(s.components)] {
		predicted := s.predicted[i]
		for mcu := first; mcu < n*t.per; mcu += t.per {
			for j := mcu; j < mcu+count; j++ {
				b := &t.blocks[j]
				predicted += int32(b[0])
				b[0] = int16(predicted)
			}
		}
		s.predicted[i] = predicted
		first += count
	}
	return true
}

// store moves blocks of n MCUs to dst, and the indices of their last coefficients to
// last: a row of h blocks per MCU, which are blocks first to first+h-1 of it.
func (t *stretch) store(dst []block, last []uint8, first, h, n int) {
	dst, last = dst[:n*h], last[:n*h]
	t.dirty = 0 // what is not stored was not decoded
	for x := range h {
		reorderKernel(&dst[x], &t.blocks[first+x], &last[x], n, h, t.per)
	}
}

// Where a kernel can, samples of the only scan are computed from a stretch as soon as it
// is decoded, while its blocks are in the cache. Otherwise a row of MCUs is decoded
// first.

// openDirect says whether samples can be computed from stretches of the scan.
func (t *stretch) openDirect(d *Decoder) {
	t.direct = t.mcus > 0 && group() > 0 && !d.buffered
	for i, ci := range d.scan.components {
		c := &d.components[ci]
		if c.h == 3 || c.h > group() {
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
	g, mcu := group(), size*t.per
	second, third, step := mcu, 2*mcu, g*mcu
	switch h {
	case 2:
		second, third, step = size, mcu, g/2*mcu
	case 4:
		second, third, step = size, 2*size, mcu
	}
	groups := (n*h + g - 1) >> (g / 2) // g is 2 or 4
	_ = dst[7*stride+8*g*groups-1]
	for i := 0; i < groups; i++ {
		at := first
		if i > 0 {
			at += g*i/h*t.per + g*i%h
		}
		_ = t.blocks[at+(second+(g/2-1)*third)/size]
		i += groups - i - inverseStretch(&dst[8*g*i], stride, &t.blocks[at], second, third, step, quant, groups-i)
		if i < groups {
			t.inverseWild(dst[8*g*i:], stride, first, h, g*i, quant)
		}
	}
}

// inverseWild is inverse for a group of blocks that the kernel does not take, from the i-th on.
func (t *stretch) inverseWild(dst []byte, stride, first, h, i int, quant *block) {
	var blocks [4]block
	var natural block
	for k, at := range zigzag[:64] {
		natural[at] = quant[k]
	}
	for j := range group() {
		b := &t.blocks[first+(i+j)/h*t.per+(i+j)%h]
		for k, at := range zigzag[:64] {
			blocks[j][at] = b[k]
		}
		*b = block{}
	}
	last := [4]uint8{63, 63, 63, 63}
	inversePortable(dst, stride, blocks[:group()], last[:], &natural)
}
