package jpeg

import (
	"errors"
	"io"
)

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
