package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// A faxMode is how rows of black and white are coded.
type faxMode struct {
	scheme  compression
	twoRows bool // in fax3, rows may be coded by what changed from the row above
}

var (
	errRow      = errors.New("a row is longer than the others")
	errFaxCode  = errors.New("invalid fax code")
	errEarlyEnd = errors.New("a row ends early")
	errPlainFax = fmt.Errorf("uncompressed mode of a fax, which penstock does not read: %w", errors.ErrUnsupported)
)

// A fax decodes rows by ITU-T T.4 and T.6. A row that ends early or is too long is an
// error, though libtiff shows something.
type fax struct {
	src   []byte
	at    int    // byte after those in acc
	acc   uint64 // bits after the first n are correct or zero
	n     uint   // bits in acc, from the top
	width int

	above, row []int // where the colour changes, first from white, and then the width four times
}

// decode fills dst with rows of this number of pixels. A bit of 1 is black.
func (f *fax) decode(dst, src []byte, width int, mode faxMode) error {
	f.src, f.at, f.acc, f.n, f.width = src, 0, 0, 0, width
	f.above = append(f.above[:0], width, width, width, width)
	rowBytes := (width + 7) / 8
	marks := mode.scheme == fax3 && f.hasMarks()
	for y := 0; len(dst) > 0; y++ {
		if err := f.decodeRow(mode, marks); err != nil {
			return fmt.Errorf("row %d: %w", y, err)
		}
		f.row = append(f.row, width, width, width, width)
		paint(dst[:rowBytes], f.row)
		f.above, f.row = f.row, f.above
		dst = dst[rowBytes:]
	}
	return nil
}

func (f *fax) decodeRow(mode faxMode, marks bool) error {
	f.row = f.row[:0]
	switch mode.scheme {
	case fax4:
		return f.decodeTwo()
	case fax3:
		if marks && !f.skipMark() {
			return errShort
		}
		if mode.twoRows && f.take(1) == 0 {
			return f.decodeTwo()
		}
		return f.decodeOne()
	}
	if err := f.decodeOne(); err != nil {
		return err
	}
	step := uint(8)
	if mode.scheme == faxWords {
		step = 16
	}
	f.drop((uint(f.at)*8-f.n+step-1)/step*step - (uint(f.at)*8 - f.n))
	return nil
}

// fill makes n at least 56, with zeros after the end.
func (f *fax) fill() {
	if f.at+8 <= len(f.src) {
		f.acc |= binary.BigEndian.Uint64(f.src[f.at:]) >> f.n
		f.at += int(63-f.n) >> 3
		f.n |= 56
		return
	}
	for f.n <= 56 {
		if f.at < len(f.src) {
			f.acc |= uint64(f.src[f.at]) << (56 - f.n)
		}
		f.at++
		f.n += 8
	}
}

func (f *fax) drop(n uint) {
	if n > f.n {
		f.fill()
	}
	f.acc <<= n
	f.n -= n
}

// take returns the next n bits.
func (f *fax) take(n uint) uint64 {
	if n > f.n {
		f.fill()
	}
	v := f.acc >> (64 - n)
	f.drop(n)
	return v
}

// over reports whether bits beyond the end were taken.
func (f *fax) over() bool { return f.at*8-int(f.n) > len(f.src)*8 }

// hasMarks reports whether the data has an end-of-line mark: at least 11 zeros and a
// one.
func (f *fax) hasMarks() bool {
	zeros := 0
	for _, b := range f.src {
		if b == 0 {
			zeros += 8
			continue
		}
		if zeros+bits.LeadingZeros8(b) >= 11 {
			return true
		}
		zeros = bits.TrailingZeros8(b)
	}
	return false
}

// skipMark skips all bits up to the end of the next end-of-line mark.
func (f *fax) skipMark() bool {
	for zeros := 0; ; {
		f.fill()
		if f.over() {
			return false
		}
		k := uint(bits.LeadingZeros64(f.acc))
		if k >= f.n { // all that is known
			zeros += int(f.n)
			f.drop(f.n)
			continue
		}
		f.drop(k)
		f.drop(1)
		if zeros+int(k) >= 11 {
			return true
		}
		zeros = 0
	}
}

// run reads a run: any number of codes for multiples of 64 pixels, and one for less
// than 64.
func (f *fax) run(codes *[1 << 13]code) (int, error) {
	for n := 0; ; {
		if f.n < 13 {
			f.fill()
		}
		c := codes[f.acc>>51]
		if c.bits == 0 {
			if f.acc>>53 == 0 {
				return 0, errEarlyEnd
			}
			return 0, errFaxCode
		}
		f.drop(uint(c.bits))
		n += int(c.run)
		if c.run < 64 {
			if f.over() {
				return 0, errShort
			}
			return n, nil
		}
		if n > f.width {
			return 0, errRow
		}
	}
}

// decodeOne decodes a row of runs that are white and black alternately.
func (f *fax) decodeOne() error {
	at := 0
	for codes := &whiteCodes; ; {
		n, err := f.run(codes)
		if err != nil {
			return err
		}
		at += n
		if at > f.width {
			return errRow
		}
		f.row = append(f.row, at)
		if at == f.width {
			return nil
		}
		if codes == &whiteCodes {
			codes = &blackCodes
		} else {
			codes = &whiteCodes
		}
	}
}

// decodeTwo decodes a row by its differences from the row above.
func (f *fax) decodeTwo() error {
	at, next := -1, 0 // next is in above
	for at < f.width {
		// The next change above to the right of at, towards the other colour.
		next = max(0, next-1)
		next += (next ^ len(f.row)) & 1
		for f.above[next] <= at && f.above[next] < f.width {
			next += 2
		}
		if f.n < 7 {
			f.fill()
		}
		c := modeCodes[f.acc>>57]
		if c.bits == 0 {
			if f.acc>>53 == 0 {
				return errEarlyEnd
			}
			return errFaxCode
		}
		f.drop(uint(c.bits))
		if f.over() {
			return errShort
		}
		switch c.run {
		case extension:
			return errPlainFax
		case pass:
			at = f.above[next+1]
		case horizontal:
			first, second := &whiteCodes, &blackCodes
			if len(f.row)&1 == 1 {
				first, second = second, first
			}
			a, err := f.run(first)
			if err != nil {
				return err
			}
			b, err := f.run(second)
			if err != nil {
				return err
			}
			at = max(at, 0)
			if at+a+b > f.width {
				return errRow
			}
			f.row = append(f.row, at+a, at+a+b)
			at += a + b
		default:
			to := f.above[next] + int(c.run) - vertical0
			if to < at || to < 0 || to > f.width {
				return errRow
			}
			f.row = append(f.row, to)
			at = to
		}
	}
	return nil
}

// paint sets the black bits of a row. They go from the first, third, fifth … change of
// colour to the one after it.
func paint(row []byte, changes []int) {
	clear(row)
	width := changes[len(changes)-1]
	for i := 0; i+1 < len(changes) && changes[i] < width; i += 2 {
		from, to := changes[i], changes[i+1]
		if from == to {
			continue
		}
		first, last := from/8, (to-1)/8
		left, right := byte(0xff)>>(from%8), byte(0xff)<<(7-(to-1)%8)
		if first == last {
			row[first] |= left & right
			continue
		}
		row[first] |= left
		for j := first + 1; j < last; j++ {
			row[j] = 0xff
		}
		row[last] |= right
	}
}
