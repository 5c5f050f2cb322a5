package jpeg

import (
	"encoding/binary"
	"errors"
	"io"
)

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
