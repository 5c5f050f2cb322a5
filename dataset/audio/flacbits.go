package audio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/penstock-go/penstock/internal/files"
)

// A bitReader reads a file bit by bit, the highest bit of a byte first. Its first error stays; after it all bits are zeros.
type bitReader struct {
	file io.ReaderAt
	size int64
	err  error

	window []byte // of the file
	at     int64  // offset of the window
	next   int    // byte of the window that is loaded next

	bits uint64 // loaded ones, the next one first; below them may be some that are not counted
	n    uint   // how many are counted

	sum     uint16 // CRC-16 of the bytes before byte summed of the window
	summed  int
	scratch [windowBytes]byte
}

const windowBytes = 1 << 15

// seek goes to a byte of the file, where a checksum begins.
func (r *bitReader) seek(at int64) {
	if at >= r.at && at <= r.at+int64(len(r.window)) {
		r.next = int(at - r.at)
	} else {
		r.at, r.window, r.next = at, r.scratch[:0], 0
	}
	r.bits, r.n, r.err = 0, 0, nil
	r.sum, r.summed = 0, r.next
}

// offset is that of the byte with the next bit.
func (r *bitReader) offset() int64 { return r.at + int64(r.next) - int64(r.n/8) }

// ahead are the next n bytes, up to windowBytes, or those that the file has. The reader stands at a whole byte.
func (r *bitReader) ahead(n int) []byte {
	r.next -= int(r.n / 8)
	r.bits, r.n = 0, 0
	if len(r.window)-r.next < n {
		r.slide()
	}
	return r.window[r.next:min(r.next+n, len(r.window))]
}

// slide moves the window on to the next byte, and reads what follows.
func (r *bitReader) slide() {
	loaded := int(r.n / 8) // bytes that may not belong to what is summed
	begin := r.next - loaded
	r.sum = crc16(r.sum, r.window[r.summed:begin])
	rest := copy(r.scratch[:], r.window[begin:])
	r.at += int64(begin)
	r.next, r.summed = loaded, 0
	more := int(min(int64(windowBytes-rest), max(r.size-r.at-int64(rest), 0)))
	r.window = r.scratch[:rest+more]
	if err := files.FillWithin(r.file, r.size, r.window[rest:], r.at+int64(rest)); err != nil {
		r.window = r.window[:rest]
		r.fail(err)
	}
}

func (r *bitReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// load loads at least 56 bits, or those that are left.
func (r *bitReader) load() {
	if len(r.window)-r.next >= 8 {
		r.bits |= binary.BigEndian.Uint64(r.window[r.next:]) >> r.n
		r.next += int(63-r.n) >> 3
		r.n |= 56
		return
	}
	if r.slide(); len(r.window)-r.next >= 8 {
		r.load()
		return
	}
	r.bits &^= ^uint64(0) >> r.n // shifts of 64 give 0
	for r.n <= 56 && r.next < len(r.window) {
		r.bits |= uint64(r.window[r.next]) << (56 - r.n)
		r.next++
		r.n += 8
	}
}

// read reads k bits, at most 56.
func (r *bitReader) read(k uint) uint64 {
	if r.n < k {
		if r.load(); r.n < k {
			r.fail(fmt.Errorf("file ended at byte %d: %w", r.size, io.ErrUnexpectedEOF))
			r.bits, r.n = 0, 0
			return 0
		}
	}
	v := r.bits >> (64 - k)
	r.bits <<= k
	r.n -= k
	return v
}

// signed reads an integer of k bits.
func (r *bitReader) signed(k uint) int64 {
	if k == 0 {
		return 0
	}
	return int64(r.read(k)<<(64-k)) >> (64 - k)
}

// unary reads the number of zeros before a one.
func (r *bitReader) unary() uint64 {
	for zeros := uint64(0); ; {
		if z := uint(bits.LeadingZeros64(r.bits)); z < r.n {
			r.bits <<= z + 1
			r.n -= z + 1
			return zeros + uint64(z)
		}
		zeros += uint64(r.n)
		r.bits, r.n = 0, 0
		if r.load(); r.n == 0 {
			r.fail(fmt.Errorf("file ended at byte %d: %w", r.size, io.ErrUnexpectedEOF))
			return 0
		}
	}
}

// align goes on to the next whole byte.
func (r *bitReader) align() {
	r.bits <<= r.n % 8
	r.n -= r.n % 8
}

// begin says that a checksum begins with the next byte, at which the reader stands.
func (r *bitReader) begin() { r.sum, r.summed = 0, r.next-int(r.n/8) }

// checksum is the CRC-16 of the bytes from begin to the next one, at which the reader stands.
func (r *bitReader) checksum() uint16 {
	end := r.next - int(r.n/8)
	r.sum, r.summed = crc16(r.sum, r.window[r.summed:end]), end
	return r.sum
}

// crc16 continues a checksum with the polynomial x^16 + x^15 + x^2 + 1 (RFC 9639, section 9.3).
func crc16(sum uint16, data []byte) uint16 {
	for _, b := range data {
		sum = sum<<8 ^ crc16Table[byte(sum>>8)^b]
	}
	return sum
}

// crc8 is the checksum with the polynomial x^8 + x^2 + x + 1 (RFC 9639, section 9.1.8).
func crc8(data []byte) (sum uint8) {
	for _, b := range data {
		sum = crc8Table[sum^b]
	}
	return sum
}

var crc16Table = func() (table [256]uint16) {
	for i := range table {
		x := uint16(i) << 8
		for range 8 {
			x = x<<1 ^ x>>15*0x8005
		}
		table[i] = x
	}
	return table
}()

var crc8Table = func() (table [256]uint8) {
	for i := range table {
		x := uint8(i)
		for range 8 {
			x = x<<1 ^ x>>7*0x07
		}
		table[i] = x
	}
	return table
}()
