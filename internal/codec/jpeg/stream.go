package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/penstock-go/penstock/internal/budget"
)

// slack is more than the bytes of the largest MCU: 10 blocks with 64 coefficients of
// 31 bits. With it a reader needs to check only after an MCU whether it has read
// beyond the end of its interval.
const slack = 10*64*4 + 64

// A stream is a scan's entropy code without the zeros stuffed after bytes of 0xff.
// It is split into intervals at the restart markers.
type stream struct {
	from      int     // offset of the entropy code in the file, or -1
	to        int     // offset of the marker after it, or the file's length
	last      int     // offset of the last interval
	cut       bool    // the file ends before a marker
	bytes     []byte  // the intervals, and slack zeros after the last one
	ends      []int   // by interval: where it ends in bytes
	restarts  []uint8 // the markers between intervals
	next      int     // the interval to be read next
	remaining int     // MCUs left in the current interval
}

// fill reads the entropy code that begins at offset from of data.
func (s *stream) fill(data []byte, from int) {
	s.from = from
	s.ends, s.restarts = s.ends[:0], s.restarts[:0]
	s.bytes = grow(s.bytes, len(data)-from+slack)
	out := s.bytes[:0]
	at := from
	s.cut, s.last = false, from
	for {
		read, written := unstuffKernel(out[len(out):cap(out)], data[at:])
		at, out = at+read, out[:len(out)+written]
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			out = append(out, data[at:]...)
			at = len(data)
			s.cut = true
			break
		}
		out = append(out, data[at:at+i]...)
		at += i + 1
		mark := at - 1
		for at < len(data) && data[at] == 0xff {
			at++
		}
		if at == len(data) {
			s.cut = true
			break
		}
		marker := data[at]
		at++
		if marker == 0 {
			out = append(out, 0xff)
			continue
		}
		if marker >= markerRST0 && marker <= markerRST7 {
			s.ends = append(s.ends, len(out))
			s.restarts = append(s.restarts, marker)
			s.last = at
			continue
		}
		at = mark
		break
	}
	s.to = at
	s.ends = append(s.ends, len(out))
	s.bytes = out[:len(out)+slack]
	clear(s.bytes[len(out):])
}

// offset returns the index in data of byte i of the stream.
func (s *stream) offset(data []byte, i int) int {
	at := s.from
	for i > 0 && at < s.to {
		if data[at] == 0xff {
			for at < s.to && data[at] == 0xff {
				at++
			}
			if at < s.to && data[at] != 0 {
				at++
				continue
			}
		}
		at++
		i--
	}
	return min(at, len(data))
}

// A reader takes bits from an interval of a stream, highest first.
type reader struct {
	bytes []byte
	at    int    // index of the byte after those whose bits are counted in n
	acc   uint64 // the next bits, from the highest; those after the first n are correct or zero
	n     uint   // number of bits in acc, at most 63
	end   int    // end of the interval in bytes
}

// refill makes n at least 56.
func (r *reader) refill() {
	r.acc |= binary.BigEndian.Uint64(r.bytes[r.at:]) >> (r.n & 63)
	r.at += int(63-r.n) >> 3
	r.n |= 56
}

// drop takes n bits.
func (r *reader) drop(n uint) {
	r.acc <<= n & 63
	r.n -= n
}

// overrun reports whether more bits were taken than the interval has.
func (r *reader) overrun() bool { return r.at*8-int(r.n) > r.end*8 }

// load decodes all scans of a buffered image into coefficients.
func (d *Decoder) load() error {
	if !d.loaded {
		d.loadError = d.loadScans()
		d.loaded = true
	}
	return d.loadError
}

func (d *Decoder) loadScans() error {
	blocks := 0
	for i := range d.components {
		blocks += ceil(d.components[i].wide, 8) * ceil(d.components[i].high, 8)
	}
	// A block takes at least one bit of the component's first scan, so a whole
	// file of n bytes has at most 8n blocks. A truncated file may have more, up
	// to this limit.
	limit := 8 * len(d.data)
	if d.AllowTruncated {
		limit *= 16
	}
	if blocks > limit {
		return truncated(len(d.data), "entropy code")
	}
	for i := range d.components {
		c := &d.components[i]
		n := c.across * c.down
		c.coefficients = grow(c.coefficients, n)
		clear(c.coefficients)
		if d.config.Progressive {
			c.nonzero = grow(c.nonzero, n)
			clear(c.nonzero)
		}
		c.latched = false
		for k := range c.progress {
			c.progress[k] = -1
		}
	}

	d.scans, d.irregular = 0, false
	d.zigzag, d.scan.place = d.config.Progressive && pairsKernel() && !d.stretch.off, &zigzag
	if d.zigzag {
		d.scan.place = &inOrder
	}
	err := d.readScans(blocks)
	if err != nil && !(d.AllowTruncated && errors.Is(err, io.ErrUnexpectedEOF)) {
		return err
	}
	// libjpeg shows such an image gray. Other components may be missing.
	if d.components[0].progress[0] < 0 && !d.AllowTruncated {
		return corrupt(len(d.data), "no scan of the first component")
	}
	d.checkSmooth()
	return nil
}

// What scans take of the budget, in its steps.
const (
	// Encoders go over a progressive image about ten times, and some dozen times at most. The
	// pixels justify that even if the file is short, because its scans say little. Further
	// scans must be justified by their bytes.
	passes = 32
	// The tables of a scan take about as long as that many blocks.
	scanSteps = 1 << 10
)

// readScans decodes all scans of an image with this number of blocks.
func (d *Decoder) readScans(blocks int) error {
	own := budget.For(int64(len(d.data)))
	justified := d.Budget
	if justified == nil {
		justified = &own
	}
	justified.Grant(0, passes*int64(blocks))
	at := d.scanAt
	for at >= 0 {
		from, err := d.readScanHeader(at)
		if err != nil {
			return err
		}
		if err := justified.Work(d.scanWork()); err != nil {
			return corrupt(at, "scans: %w", err)
		}
		d.scans++
		d.stream.fill(d.data, from)
		d.start()
		if d.config.Progressive {
			err = d.decodeProgressive()
		} else {
			err = d.decodeScan()
		}
		if err != nil {
			return err
		}
		d.advance()
		at, err = d.readMarkers(d.stream.to)
		if err != nil {
			return err
		}
	}
	return nil
}

// scanWork is how many steps the scan takes whose header was read. Nearly all of its blocks may
// be in a few runs.
func (d *Decoder) scanWork() int64 {
	blocks := int64(0)
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		blocks += int64(ceil(c.wide, 8)) * int64(ceil(c.high, 8))
	}
	each := int64(1)
	if d.irregular && d.scan.high > 0 { // it looks at each coefficient
		each = 6 + int64(d.scan.to-d.scan.from)/6
	}
	return scanSteps + each*blocks
}

// decodeScan decodes a sequential scan into the coefficients. If it ends early and that is
// allowed, whole becomes the MCU row in which it ends.
func (d *Decoder) decodeScan() error {
	s := &d.scan
	d.whole = d.mcuHigh
	if len(s.components) == 1 {
		ci := s.components[0]
		c := &d.components[ci]
		wide, high := ceil(c.wide, 8), ceil(c.high, 8)
		for y := range high {
			if err := d.stopped(); err != nil {
				return err
			}
			row := c.coefficients[y*c.across:][:wide]
			portable := 0
			for x := 0; x < wide; {
				if err := d.between(); err != nil {
					return err
				}
				if x >= portable {
					n, ok := d.fast(wide-x, true)
					if ok {
						d.stretch.store(row[x:], d.stretch.unread, 0, 1, n)
						x += n
						continue
					}
					portable = x + n
				}
				ok := d.decodeBlock(0, &row[x])
				if done, err := d.judge(ok); done || err != nil {
					d.whole = y / d.config.Sampling[ci].V
					return err
				}
				x++
			}
		}
		return nil
	}
	for my := range d.mcuHigh {
		if err := d.stopped(); err != nil {
			return err
		}
		portable := 0
		for mx := 0; mx < d.mcuWide; {
			if err := d.between(); err != nil {
				return err
			}
			if mx >= portable {
				n, ok := d.fast(d.mcuWide-mx, true)
				if ok {
					d.storeBuffered(mx, my, n)
					mx += n
					continue
				}
				portable = mx + n
			}
			ok := true
			for i, ci := range s.components {
				c := &d.components[ci]
				for y := range c.v {
					first := (my*c.v+y)*c.across + mx*c.h
					for j := first; j < first+c.h; j++ {
						ok = d.decodeBlock(i, &c.coefficients[j]) && ok
					}
				}
			}
			if done, err := d.judge(ok); done || err != nil {
				d.whole = my
				return err
			}
			mx++
		}
	}
	return nil
}

// storeBuffered stores a stretch of n MCUs of an interleaved scan of a buffered image.
func (d *Decoder) storeBuffered(mx, my, n int) {
	first := 0
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		for y := range c.v {
			row := c.coefficients[(my*c.v+y)*c.across+mx*c.h:]
			d.stretch.store(row, d.stretch.unread, first+y*c.h, c.h, n)
		}
		first += c.h * c.v
	}
}

// judge is called after every MCU. Ok says whether its code was valid. The scan is
// done if the file has ended and may end early.
func (d *Decoder) judge(ok bool) (done bool, err error) {
	if d.scan.reader.overrun() {
		if d.mayEnd() {
			return true, nil
		}
		return false, d.cutShort()
	}
	if !ok {
		return false, d.broken()
	}
	return false, nil
}

// mayEnd reports whether this is the last interval of a truncated file, and such
// files are allowed.
func (d *Decoder) mayEnd() bool {
	return d.AllowTruncated && d.stream.cut && d.stream.next >= len(d.stream.ends)
}

// decodeBlock reads one block of the i-th component of a sequential scan. It reports
// whether the code is valid.
func (d *Decoder) decodeBlock(i int, b *block) bool {
	s := &d.scan
	if s.again {
		return s.blockAgain(b, i)
	}
	return s.reader.block(b, s.dc[i], s.ac[i], &s.predicted[i]) >= 0
}

// blockAgain reads one block of a sequential scan of a component that has been scanned
// before. As in libjpeg, coefficients that it does not have stay.
func (s *scan) blockAgain(b *block, i int) bool {
	fresh := block{b[0]}
	ok := s.reader.block(&fresh, s.dc[i], s.ac[i], &s.predicted[i]) >= 0
	b[0] = fresh[0]
	for k, v := range fresh[1:] {
		if v != 0 {
			b[1+k] = v
		}
	}
	return ok
}

// The end of a sequential file is checked before any window is decoded, so that all
// windows give the same error. In files with an end marker only its two bytes are
// read for that.

// checkEnd checks what follows the only scan. Its entropy code begins at offset at
// and is in the stream.
func (d *Decoder) checkEnd(at int) error {
	st := &d.stream
	if st.cut {
		return d.checkCut()
	}
	if end := d.data[st.to:]; len(end) >= 2 && end[0] == 0xff && end[1] == markerEOI {
		return nil
	}
	next, err := d.readMarkers(st.to)
	// The scan must be decoded without the tables that follow it.
	if again := d.readHeader(); again != nil {
		return again
	}
	st.from = at
	if _, again := d.readScanHeader(d.scanAt); again != nil {
		return again
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil // nothing of the image is missing
	case err != nil:
		return err
	case next >= 0:
		return corrupt(next, "second scan of all components")
	}
	return nil
}

// checkCut decides whether a file that ends within its scan is complete.
//
// libjpeg reads some bytes ahead of the codes that it decodes. When there are no
// more bytes, it waits for Pillow to supply them, and Pillow gives up. That happens
// even if only the end marker is missing: Pillow decodes one in twelve of the
// photos without that marker.
func (d *Decoder) checkCut() error {
	st := &d.stream
	blocks := 0
	for i := range d.components {
		blocks += d.components[i].h * d.components[i].v
	}
	mcus := d.mcuWide * d.mcuHigh
	w := waiter{data: d.data, next: st.last}
	w.limit = min(ceil(w.next+1, readAhead)*readAhead, len(d.data))
	if d.interval > 0 {
		mcus -= d.interval * (len(st.ends) - 1)
		if mcus > d.interval {
			return truncated(len(d.data), "entropy code")
		}
	}
	for range mcus {
		for start := w; !w.mcu(d, d.interval == 0 && w.limit-w.next >= 512*blocks); {
			if w.limit == len(d.data) {
				return truncated(len(d.data), "entropy code")
			}
			limit := min(w.limit+readAhead, len(d.data))
			w = start
			w.limit = limit
		}
	}
	return nil
}

// readAhead is how many bytes Pillow gives libjpeg at a time.
const readAhead = 1 << 16

// A waiter reads entropy code as jdhuff.c of libjpeg-turbo does on 64-bit
// machines. It stops where that would wait for more bytes.
type waiter struct {
	data  []byte
	next  int    // offset of the next byte to be taken
	limit int    // offset of the end of the bytes that libjpeg has got
	acc   uint64 // the next bits from the top
	n     int
}

// mcu reads an MCU. It is false if bytes are missing or the code is invalid. Fast is
// libjpeg's decoding far from the end of its bytes.
func (w *waiter) mcu(d *Decoder, fast bool) bool {
	s := &d.scan
	for i, ci := range s.components {
		for range d.components[ci].h * d.components[ci].v {
			size, ok := w.symbol(s.dc[i], fast)
			if !ok || !w.value(int(size), fast) {
				return false
			}
			for k := 1; k < 64; k++ {
				symbol, ok := w.symbol(s.ac[i], fast)
				if !ok || !w.value(int(symbol&15), fast) {
					return false
				}
				if symbol&15 == 0 && symbol != 0xf0 {
					break
				}
				k += int(symbol >> 4)
			}
		}
	}
	return true
}

// symbol takes a Huffman code. At least eight bits must be ready for it. For a
// longer code nine are needed, and then one more at a time.
func (w *waiter) symbol(h *huffman, fast bool) (symbol uint8, ok bool) {
	if !w.have(8, fast) {
		return 0, false
	}
	symbol, length := h.search(uint32(w.acc >> 48))
	if length > 0 && length <= 8 {
		w.take(length)
		return symbol, true
	}
	if !fast && !w.have(9, fast) {
		return 0, false
	}
	code := w.take(9)
	for length = 9; code<<(16-length) >= h.limit[length]; length++ {
		if length == 16 || !fast && !w.have(1, fast) {
			return 0, false
		}
		code = code<<1 | w.take(1)
	}
	return h.symbol[uint8(h.offset[length]+int32(code))], true
}

// value takes the bits of a coefficient's value.
func (w *waiter) value(size int, fast bool) bool {
	if size == 0 {
		return true
	}
	if !w.have(size, fast) {
		return false
	}
	w.take(size)
	return true
}

// take takes n bits, 16 at most.
func (w *waiter) take(n int) uint32 {
	v := uint32(w.acc >> (64 - n))
	w.acc <<= n
	w.n -= n
	return v
}

// have makes at least this number of bits ready. Far from the end of its bytes,
// libjpeg takes six bytes whenever 16 bits or fewer are left. Near the end, it takes
// as many as it has room for, whenever there are too few.
func (w *waiter) have(bits int, fast bool) bool {
	most := 57
	if fast {
		most = w.n + 48
		bits = 17
	}
	if w.n >= bits {
		return true
	}
	for w.n < most {
		if w.next >= w.limit {
			return false
		}
		b := w.data[w.next]
		w.next++
		if b == 0xff {
			for w.next < w.limit && w.data[w.next] == 0xff {
				w.next++
			}
			if w.next >= w.limit {
				return false
			}
			w.next++ // the zero
		}
		w.acc |= uint64(b) << (56 - w.n)
		w.n += 8
	}
	return true
}
