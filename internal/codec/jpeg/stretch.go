package jpeg

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
