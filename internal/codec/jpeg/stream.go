package jpeg

import (
	"bytes"
	"encoding/binary"
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
