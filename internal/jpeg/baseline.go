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
func (d *Decoder) decodeRow(x0, x1 int) error {
	s := &d.scan
	for i := range d.components {
		c := &d.components[i]
		n := (x1 - x0) * c.h * c.v
		c.row, c.last = grow(c.row, n), grow(c.last, n)
		clear(c.row)
		clear(c.last)
	}
	if d.exhausted {
		return nil
	}
	for mx := range d.mcuWide {
		if err := d.between(); err != nil {
			return err
		}
		inside := mx >= x0 && mx < x1
		ok := true
		for i, ci := range s.components {
			c := &d.components[ci]
			dc, ac := s.dc[i], s.ac[i]
			if !inside {
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
		if s.reader.overrun() {
			if d.mayEnd() {
				d.exhausted = true
				return nil
			}
			return d.cutShort()
		}
		if !ok {
			return d.broken()
		}
	}
	return nil
}

// block reads one block of a sequential scan into b, which must be zero. It
// returns the zigzag index of the last coefficient, or -1 if the code is invalid.
// A coefficient beyond the block's end replaces its last one, as in libjpeg.
func (r *reader) block(b *block, dc, ac *huffman, predicted *int32) int {
	stream, at, acc, n := r.bytes, r.at, r.acc, r.n

	acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
	at += int(63-n) >> 3
	n |= 56
	e := dc.lookup[acc>>(64-lookupBits)]
	length := uint(e) & 63
	if uint32(e)>>16 != 0 {
		acc <<= length
		n -= length
		*predicted += e >> 16
	} else {
		size := uint(e>>8) & 15
		if e == 0 {
			symbol, l := dc.long(uint32(acc >> 48))
			if l == 0 {
				return -1
			}
			size, length = uint(symbol), uint(l)
		}
		acc <<= length & 63
		n -= length
		if size > 0 {
			*predicted += extend(acc, size)
			acc <<= size & 63
			n -= size
		}
	}
	b[0] = int16(*predicted)

	k := uint(1)
	for {
		acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
		at += int(63-n) >> 3
		n |= 56

		e = ac.lookup[acc>>(64-lookupBits)]
		length = uint(e) & 63
		if uint32(e)>>16 == 0 {
			goto special
		}
		k += uint(e>>8) & 31
		b[zigzag[(k-1)&127]&63] = int16(e >> 16)
		acc <<= length
		n -= length
		if k >= 64 {
			break
		}

		e = ac.lookup[acc>>(64-lookupBits)]
		length = uint(e) & 63
		if uint32(e)>>16 == 0 {
			goto special
		}
		k += uint(e>>8) & 31
		b[zigzag[(k-1)&127]&63] = int16(e >> 16)
		acc <<= length
		n -= length
		if k >= 64 {
			break
		}

		e = ac.lookup[acc>>(64-lookupBits)]
		length = uint(e) & 63
		if uint32(e)>>16 == 0 {
			goto special
		}
		k += uint(e>>8) & 31
		b[zigzag[(k-1)&127]&63] = int16(e >> 16)
		acc <<= length
		n -= length
		if k >= 64 {
			break
		}
		continue

	special:
		symbol := uint(e>>8) & 255
		if e == 0 {
			s, l := ac.long(uint32(acc >> 48))
			if l == 0 {
				return -1
			}
			symbol, length = uint(s), uint(l)
		}
		acc <<= length & 63
		n -= length
		size := symbol & 15
		if size == 0 {
			if symbol != 0xf0 {
				break
			}
			if k += 16; k >= 64 {
				break
			}
			continue
		}
		acc |= binary.BigEndian.Uint64(stream[at:]) >> (n & 63)
		at += int(63-n) >> 3
		n |= 56
		k += symbol>>4 + 1
		b[zigzag[(k-1)&127]&63] = int16(extend(acc, size))
		acc <<= size
		n -= size
		if k >= 64 {
			break
		}
	}
	r.at, r.acc, r.n = at, acc, n
	return int(min(k, 64)) - 1
}
