// Package inflate decompresses DEFLATE (RFC 1951) in the frames of zlib (RFC 1950) and gzip (RFC 1952), for
// codecs and for formats of datasets. It starts no goroutines, and a Reader keeps its memory from one stream to the next.
//
// It reads 8 bytes of input at a time, and looks up whole codes with their extra bits, which is why it is faster
// than readers of single bytes. It accepts the streams that compress/flate accepts, and no others.
package inflate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Corrupt is the error of data that is no DEFLATE: how many bytes of the stream, without a header, had been read.
type Corrupt int64

func (c Corrupt) Error() string { return fmt.Sprintf("inflate: corrupt data before byte %d", int64(c)) }

// errCorrupt becomes a Corrupt.
var errCorrupt = errors.New("inflate: corrupt data")

const (
	farthest = 1 << 15 // the greatest distance of a match
	longest  = 258     // the greatest length of a match
	slack    = 8       // bytes that a copy may write beyond the match
)

// A decoder decodes the blocks of a stream. Its input comes in pieces.
type decoder struct {
	more func() ([]byte, error) // the next piece; io.EOF if there is none, and nil if in is all
	in   []byte
	pos  int   // of the next byte of in that is not in bits
	past int64 // bytes of earlier pieces

	// The next bits of the stream, the first one lowest, of which n count. The others are 0 or those of in[pos:].
	bits uint64
	n    uint

	state  state
	last   bool // the block is the last one
	stored int  // bytes that remain of a stored block

	codes tables
}

// A state says what comes next in the stream.
type state uint8

const (
	header state = iota // of a block
	symbols
	bytes
	ended
)

// begin starts a stream of raw DEFLATE.
func (d *decoder) begin(in []byte, more func() ([]byte, error)) {
	d.in, d.more, d.pos, d.past = in, more, 0, 0
	d.bits, d.n = 0, 0
	d.state, d.last = header, false
}

// need makes at least n bits available, up to 32, and fewer only with an error.
func (d *decoder) need(n uint) error {
	for d.n < n {
		if d.pos == len(d.in) {
			if err := d.refresh(); err != nil {
				return err
			}
		}
		d.bits |= uint64(d.in[d.pos]) << d.n
		d.pos++
		d.n += 8
	}
	return nil
}

// refresh gets the next piece of input.
func (d *decoder) refresh() error {
	if d.more == nil {
		return io.ErrUnexpectedEOF
	}
	past := d.past + int64(len(d.in))
	in, err := d.more()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	d.in, d.pos, d.past = in, 0, past
	d.bits &= 1<<d.n - 1
	return nil
}

// take removes n bits, which are there.
func (d *decoder) take(n uint) uint {
	v := uint(d.bits & (1<<n - 1))
	d.bits >>= n
	d.n -= n
	return v
}

// byte is the next byte after the bits that remain of the last one.
func (d *decoder) byte() (byte, error) {
	d.take(d.n & 7)
	if err := d.need(8); err != nil {
		return 0, err
	}
	return byte(d.take(8)), nil
}

// decode writes to out[at:] until the stream ends or less than room bytes are free. Matches may lie in out[:at]. It
// returns where it ended. A match that does not fit is cut.
func (d *decoder) decode(out []byte, at, room int) (int, error) {
	for d.state != ended && len(out)-at >= room {
		var err error
		switch d.state {
		case header:
			err = d.block()
		case bytes:
			at, err = d.copyStored(out, at)
		case symbols:
			at = d.fast(out, at)
			if d.state == symbols && len(out)-at >= room {
				at, err = d.careful(out, at, room)
			}
		}
		if err == errCorrupt {
			err = Corrupt(d.past + int64(d.pos) - int64(d.n/8))
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// block reads the header of a block.
func (d *decoder) block() error {
	if d.last {
		d.state = ended
		return nil
	}
	if err := d.need(3); err != nil {
		return err
	}
	d.last = d.take(1) == 1
	switch d.take(2) {
	case 0:
		var b [4]byte
		for i := range b {
			var err error
			if b[i], err = d.byte(); err != nil {
				return err
			}
		}
		n := binary.LittleEndian.Uint16(b[:])
		if n != ^binary.LittleEndian.Uint16(b[2:]) {
			return errCorrupt
		}
		d.state, d.stored = bytes, int(n)
		return nil
	case 1:
		d.state = symbols
		d.codes.fix()
		return nil
	case 2:
		d.state = symbols
		return d.readCodes()
	}
	return errCorrupt
}

// copyStored copies bytes of a stored block.
func (d *decoder) copyStored(out []byte, at int) (int, error) {
	for d.stored > 0 && at < len(out) {
		if d.n > 0 { // whole bytes
			out[at] = byte(d.take(8))
			at++
			d.stored--
			continue
		}
		d.bits = 0
		if d.pos == len(d.in) {
			if err := d.refresh(); err != nil {
				return at, err
			}
		}
		n := copy(out[at:], d.in[d.pos:min(len(d.in), d.pos+d.stored)])
		at += n
		d.pos += n
		d.stored -= n
	}
	if d.stored == 0 {
		d.state = header
	}
	return at, nil
}

// fast decodes symbols while there are 8 bytes of input, and room for any match and slack. It stops before a symbol
// that is wrong, which careful reports.
func (d *decoder) fast(out []byte, at int) int {
	in, pos, bits, n := d.in, d.pos, d.bits, d.n
	literals, distances := &d.codes.literals, &d.codes.distances
	for pos+8 <= len(in) && at+longest+slack+2 <= len(out) {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		e := literals[bits&(1<<literalBits-1)]
		// Two literals and a length take at most 15+15+20 of 56 bits.
		if e&isLiteral != 0 {
			bits >>= e & 63
			n -= uint(e & 63)
			out[at] = byte(e >> 16)
			at++
			e = literals[bits&(1<<literalBits-1)]
			if e&isLiteral != 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				out[at] = byte(e >> 16)
				at++
				e = literals[bits&(1<<literalBits-1)]
				if e&isLiteral != 0 {
					continue
				}
			}
		}
		if e&isTable != 0 {
			e = literals[e>>16+uint32(bits>>literalBits)&(1<<(e>>8&15)-1)]
			if e&isLiteral != 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				out[at] = byte(e >> 16)
				at++
				continue
			}
		}
		if e&isEnd != 0 {
			if e&isWrong == 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				d.state = header
			}
			break
		}
		// Before the match is known to be right, nothing of it is consumed.
		was, wasN := bits, n
		bits >>= e & 63
		n -= uint(e & 63)
		extra := e >> 8 & 15
		length := int(e>>16&0x1ff) + int(bits&(1<<extra-1))
		bits >>= extra
		n -= uint(extra)
		wasPos := pos
		if n < 28 {
			if pos+8 > len(in) {
				bits, n = was, wasN
				break
			}
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += int(63-n) >> 3
			n |= 56
		}
		e = distances[bits&(1<<distanceBits-1)]
		if e&isTable != 0 {
			e = distances[e>>16+uint32(bits>>distanceBits)&(1<<(e>>8&15)-1)]
		}
		bits >>= e & 63
		n -= uint(e & 63)
		extra = e >> 8 & 15
		distance := int(e>>16) + int(bits&(1<<extra-1))
		bits >>= extra
		n -= uint(extra)
		if e&isWrong != 0 || distance > at {
			bits, n, pos = was, wasN, wasPos
			break
		}
		match(out, at, distance, length)
		at += length
	}
	d.pos, d.bits, d.n = pos, bits, n
	return at
}

// match copies a match. It may write slack bytes too many.
func match(out []byte, at, distance, length int) {
	from := at - distance
	if distance >= 8 {
		to := out[at : at+length+slack : len(out)]
		src := out[from:]
		for k := 0; k < length; k += 8 {
			binary.LittleEndian.PutUint64(to[k:], binary.LittleEndian.Uint64(src[k:]))
		}
		return
	}
	if distance == 1 {
		v := 0x0101010101010101 * uint64(out[from])
		to := out[at : at+length+slack]
		for k := 0; k < length; k += 8 {
			binary.LittleEndian.PutUint64(to[k:], v)
		}
		return
	}
	to, src := out[at:at+length], out[from:at+length]
	for k := range to {
		to[k] = src[k]
	}
}

// careful decodes one symbol after the other, with any room and any input, until fast can go on.
func (d *decoder) careful(out []byte, at, room int) (int, error) {
	for {
		e, err := d.symbol(d.codes.literals[:], literalBits)
		switch {
		case err != nil:
			return at, err
		case e&isWrong != 0:
			return at, errCorrupt
		case e&isEnd != 0:
			d.state = header
			return at, nil
		case e&isLiteral != 0:
			out[at] = byte(e >> 16)
			at++
		default:
			if at, err = d.oneMatch(out, at, e); err != nil {
				return at, err
			}
		}
		if len(out)-at < room || d.pos+8 <= len(d.in) && len(out)-at >= longest+slack+2 {
			return at, nil
		}
	}
}

// oneMatch copies a match whose length is e and what follows. What is too long for out is cut.
func (d *decoder) oneMatch(out []byte, at int, e uint32) (int, error) {
	length, err := d.number(e)
	if err != nil {
		return at, err
	}
	if e, err = d.symbol(d.codes.distances[:], distanceBits); err != nil {
		return at, err
	}
	if e&isWrong != 0 {
		return at, errCorrupt
	}
	distance, err := d.number(e)
	if err != nil {
		return at, err
	}
	if distance > at {
		return at, errCorrupt
	}
	for range min(length, len(out)-at) {
		out[at] = out[at-distance]
		at++
	}
	return at, nil
}

// number is a length or a distance with its extra bits.
func (d *decoder) number(e uint32) (int, error) {
	extra := uint(e >> 8 & 15)
	if err := d.need(extra); err != nil {
		return 0, err
	}
	return int(e>>16) + int(d.take(extra)), nil
}

// symbol decodes a code. It reads no byte that the code does not need.
func (d *decoder) symbol(table []uint32, primary uint) (uint32, error) {
	for {
		e := table[d.bits&(1<<primary-1)]
		if e&isTable != 0 {
			e = table[e>>16+uint32(d.bits>>primary)&(1<<(e>>8&15)-1)]
		}
		if n := uint(e & 63); n <= d.n { // which is known only now
			d.take(n)
			return e, nil
		}
		if err := d.need(d.n + 1); err != nil {
			return 0, err
		}
	}
}
