package jpeg

import (
	"errors"
	"io"
)

// What is wrong with the end of a sequential file is known before any window is
// decoded, so that all windows have the same fate. Of files with an end marker
// this costs a look at its two bytes.

// checkEnd looks at what follows the only scan, whose entropy code begins at
// offset at. The stream holds it.
func (d *Decoder) checkEnd(at int) error {
	st := &d.stream
	if st.cut {
		return d.checkCut()
	}
	if end := d.data[st.to:]; len(end) >= 2 && end[0] == 0xff && end[1] == markerEOI {
		return nil
	}
	next, err := d.readMarkers(st.to)
	// Tables after the scan must not be there when it is decoded.
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

// checkCut decides whether a file that ends within its scan is whole.
//
// libjpeg takes bytes ahead of the codes that it decodes. Pillow has it wait for
// more where there are none, and then gives up, though nothing may be missing
// but the end marker: of photos without that marker it takes one in twelve.
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

// A waiter goes through entropy code as jdhuff.c of libjpeg-turbo does on 64-bit
// machines, and is stuck where that would wait for more bytes.
type waiter struct {
	data  []byte
	next  int    // offset of the next byte to be taken
	limit int    // of the bytes at hand
	acc   uint64 // the next bits from the top
	n     int
}

// mcu goes past an MCU. It is false where bytes are missing or the code is broken.
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

// symbol takes a Huffman code. Eight bits have to be there first; of longer codes
// come nine, and then one by one.
func (w *waiter) symbol(h *huffman, fast bool) (symbol uint8, ok bool) {
	if !w.have(8, fast) {
		return 0, false
	}
	symbol, length := h.short(uint32(w.acc >> 48))
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

// value takes the bits of a coefficient.
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

// have makes at least so many bits ready. Far from the end, libjpeg takes six
// bytes whenever 16 bits or fewer are left; near it, as many as it has room for
// once there are too few.
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
