package jpeg

import (
	"bytes"
	"encoding/binary"
)

// slack is more than the bytes that the blocks of one MCU can hold, 10 of them
// with 64 coefficients of 31 bits, so that a reader need not look where its
// interval ends before the MCU has been read.
const slack = 10*64*4 + 64

// A stream is a scan's entropy code without the zeros stuffed after bytes of
// 0xff, split where it restarts.
type stream struct {
	from      int // offset of the entropy code in the file, or -1
	to        int // offset of the marker after it, or the file's length
	last      int // offset of the last interval
	cut       bool
	bytes     []byte // slack bytes of zero after the last interval
	ends      []int  // by interval: where it ends in bytes
	restarts  []uint8
	next      int // interval to be read next
	remaining int // MCUs in the current interval
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

// offset returns the place in data of byte i of the stream.
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
	at    int    // byte after those whose bits are counted in n
	acc   uint64 // the next bits from the top; what follows the first n is either right or zero
	n     uint   // at most 63
	end   int    // of the interval
}

// refill makes n 56 or more.
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
