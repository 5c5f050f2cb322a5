package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// flacFormat is FLAC, as RFC 9639 describes it, with 4 to 32 bits and up to 8 channels; a file may begin with an ID3 tag.
var flacFormat = Format{
	Name: "FLAC",
	Is:   func(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "fLaC" },
	New:  func() Decoder { return new(flac) },
}

// A flac decodes FLAC files. It holds the latest frame of a file, which FLAC calls a frame, and here is called a block,
// because elsewhere a frame is one value per channel.
type flac struct {
	bits   bitReader
	budget budget.Budget
	info   Info

	blockSize int64  // of the largest block, and of all but the last where they are numbered
	first     int64  // offset of the first block
	points    []byte // of the seek table: 18 bytes each

	block   flacBlock
	samples []int64 // of the block: channel after channel
	coeffs  [32]int64

	unchecked bool // no checksum is compared, so that fuzzing gets further
}

// A flacBlock is what the header of a block says, and where it is.
type flacBlock struct {
	from   int64 // number of its first frame
	n      int   // frames; 0 for none
	begin  int64 // offset in the file
	end    int64
	layout int // of the channels
	header int // bytes
}

const (
	leftSide  = 8
	sideRight = 9
	midSide   = 10
)

// maxBlocks is how many bytes a block may take beside what the file's size allows: growing to 2^16 frames of 8 channels.
const maxBlocks = 2 * 8 << 16 * 8

// maxTable is how many bytes of a seek table are used. A longer one is left out: seeking works without.
const maxTable = 1 << 16

// Open reads the blocks of metadata.
func (f *flac) Open(file io.ReaderAt, size int64) (Info, error) {
	f.bits.file, f.bits.size = file, size
	f.bits.at, f.bits.window, f.bits.next, f.bits.summed = 0, f.bits.scratch[:0], 0, 0
	f.budget, f.points, f.block, f.blockSize = budget.For(size), f.points[:0], flacBlock{}, 0
	f.budget.Grant(maxBlocks, 0)
	f.bits.seek(0)
	at := tagEnd(f.bits.ahead(10)) + 4
	known := false
	for last := false; !last; {
		f.bits.seek(at)
		head := f.bits.ahead(38)
		if f.bits.err != nil || len(head) < 4 {
			return Info{}, f.ended(at)
		}
		kind, length := head[0]&0x7f, int64(binary.BigEndian.Uint32(head)&0xffffff)
		last = head[0]&0x80 != 0
		switch {
		case kind == 0 && !known:
			if length >= 34 && len(head) < 38 {
				return Info{}, f.ended(at)
			}
			if length < 34 {
				return Info{}, fmt.Errorf("byte %d: a STREAMINFO of %d bytes: want 34", at, length)
			}
			if err := f.streamInfo(at+4, head[4:]); err != nil {
				return Info{}, err
			}
			known = true
		case !known:
			return Info{}, fmt.Errorf("byte %d: a block of metadata of type %d: want STREAMINFO first", at, kind)
		case kind == 3 && length <= min(maxTable, size-at-4) && len(f.points) == 0:
			if err := f.budget.Memory(length); err != nil {
				return Info{}, err
			}
			f.points = slices.Grow(f.points, int(length))[:length-length%18]
			if err := files.FillWithin(file, size, f.points, at+4); err != nil {
				return Info{}, err
			}
		}
		at += 4 + length
	}
	f.first = at
	if f.info.Frames > 0 {
		return f.info, nil
	}
	return f.info, f.count()
}

func (f *flac) ended(at int64) error {
	if f.bits.err != nil {
		return f.bits.err
	}
	return fmt.Errorf("file ended at byte %d, in the block that begins at byte %d: %w", f.bits.size, at, io.ErrUnexpectedEOF)
}

// streamInfo reads 34 bytes of the file from offset at on.
func (f *flac) streamInfo(at int64, b []byte) error {
	f.blockSize = int64(binary.BigEndian.Uint16(b[2:]))
	packed := binary.BigEndian.Uint64(b[10:]) // 20 bits, 3, 5 and 36
	f.info = Info{Format: "FLAC", Rate: int(packed >> 44), Channels: int(packed>>41&7) + 1, Bits: int(packed>>36&31) + 1, Frames: int64(packed & (1<<36 - 1))}
	switch {
	case f.info.Rate == 0:
		return fmt.Errorf("byte %d: 0 frames per second", at+10)
	case f.info.Bits < 4:
		return fmt.Errorf("byte %d: %d bits: want 4 to 32", at+12, f.info.Bits)
	}
	return nil
}

// maxCount is how many frames are decoded to find how many there are.
const maxCount = 1 << 26

// count decodes a file whose header does not say how many frames it has, as writers to a pipe cannot.
func (f *flac) count() error {
	for at, n := f.first, int64(0); ; {
		if at >= f.bits.size {
			f.info.Frames = n
			return nil
		}
		if err := f.decode(at, n); err != nil {
			return err
		}
		at, n = f.block.end, n+int64(f.block.n)
		if n > maxCount {
			return fmt.Errorf("the header does not say how many frames there are, and there are more than %d", maxCount)
		}
	}
}

// Read copies from blocks.
func (f *flac) Read(dst []float32, from int64) error {
	scale := 1 / float32(int64(1)<<(f.info.Bits-1))
	c := f.info.Channels
	for len(dst) > 0 {
		if err := f.find(from); err != nil {
			return err
		}
		k := int(from - f.block.from)
		n := min(f.block.n-k, len(dst)/c)
		for ch := range c {
			plane := f.samples[ch*f.block.n+k:][:n]
			out := dst[ch:]
			for i, v := range plane {
				out[i*c] = float32(v) * scale
			}
		}
		dst, from = dst[n*c:], from+int64(n)
	}
	return nil
}

// holds reports whether the latest block has the frame.
func (f *flac) holds(frame int64) bool {
	return frame >= f.block.from && frame < f.block.from+int64(f.block.n)
}

// find decodes the block with that frame: the next one, or one that is searched.
func (f *flac) find(frame int64) error {
	if f.holds(frame) {
		return nil
	}
	if f.block.n == 0 || frame < f.block.from {
		f.block = flacBlock{begin: f.first, end: f.first}
	}
	if frame >= f.block.from+int64(f.block.n) && frame-f.block.from > 4*int64(max(f.block.n, 4096)) {
		f.search(frame)
	}
	for skipped := int64(0); !f.holds(frame); skipped += int64(f.block.n) {
		if skipped > maxCount {
			return fmt.Errorf("byte %d: no block with frame %d within %d frames", f.block.begin, frame, maxCount)
		}
		if f.block.end >= f.bits.size {
			return fmt.Errorf("file ended at byte %d, after %d of %d frames: %w", f.bits.size, f.block.from+int64(f.block.n), f.info.Frames, io.ErrUnexpectedEOF)
		}
		if err := f.decode(f.block.end, f.block.from+int64(f.block.n)); err != nil {
			return err
		}
	}
	return nil
}

const (
	searches = 32      // steps of a search
	tries    = 16      // blocks that turn out to be none, per search
	near     = 1 << 15 // bytes before a frame from which on blocks are decoded one by one
)

// search finds a block before the one with that frame, and near it: by the seek table, and then between blocks whose places are
// known, where the frame should be if all blocks had as many bytes per frame. The block is decoded, so that its
// checksum is right. If there is none, the latest block stays.
func (f *flac) search(frame int64) {
	low, high := f.block, flacBlock{from: f.info.Frames, begin: f.bits.size}
	left := tries
	for k := range len(f.points) / 18 {
		p := f.points[k*18:]
		from, off := binary.BigEndian.Uint64(p), binary.BigEndian.Uint64(p[8:])
		if from > uint64(frame) || int64(from) < low.from || off > uint64(f.bits.size-f.first) || f.first+int64(off) < low.end {
			continue
		}
		low.begin, low.end, low.from, low.n = f.first+int64(off), f.first+int64(off), int64(from), 0
	}
	if low.begin != f.block.begin {
		// A point is what a file says: only a block that is there, and has that number, counts.
		if err := f.decode(low.end, low.from); err != nil {
			low = flacBlock{begin: f.first, end: f.first}
			left--
		} else {
			low = f.block
		}
	}
	for range searches {
		if high.begin-low.end <= near || low.from+int64(low.n) > frame {
			break
		}
		rate := float64(high.begin-low.begin) / float64(high.from-low.from)
		guess := low.begin + int64(float64(frame-low.from)*rate) - near/2
		guess = min(max(guess, low.end), high.begin-near/2)
		found, ok := f.scan(guess, min(high.begin, guess+2<<20), low.from, high.from, &left)
		switch {
		case !ok:
			high.begin = guess // and what is known of its number stays true
			if left <= 0 {
				high.begin = low.end
			}
		case found.from <= frame:
			low = found
		default:
			high = flacBlock{from: found.from, begin: guess}
		}
	}
	f.block = low
	if low.n > 0 { // its samples may not be there any more
		if err := f.decode(low.begin, low.from); err != nil {
			f.block = flacBlock{begin: f.first, end: f.first}
		}
	}
}

// scan looks for a block that begins in a part of the file, and whose number is in a range.
func (f *flac) scan(at, end, least, most int64, left *int) (flacBlock, bool) {
	for at < end && *left > 0 {
		f.bits.seek(at)
		b := f.bits.ahead(windowBytes / 2)
		k := 0
		for ; k+1 < len(b); k++ {
			if b[k] == 0xff && b[k+1]&0xfe == 0xf8 {
				h, err := f.header(b[k:])
				if err == nil && h.from >= least && h.from < most {
					break
				}
			}
		}
		if k+1 >= len(b) { // a header at the end of the part is looked at with the next one
			if len(b) < windowBytes/2 {
				return flacBlock{}, false
			}
			at += int64(len(b) - maxHeader)
			continue
		}
		if at += int64(k); at >= end {
			break
		}
		if err := f.decode(at, -1); err == nil {
			return f.block, true
		}
		*left--
		at++
	}
	return flacBlock{}, false
}

// maxHeader is the longest header of a block.
const maxHeader = 16

var errHeader = errors.New("not the header of a block")

// header reads the header of a block: its number, frames, layout and length.
func (f *flac) header(b []byte) (h flacBlock, err error) {
	if len(b) < 6 || b[0] != 0xff || b[1]&0xfe != 0xf8 {
		return h, errHeader
	}
	size, rate, layout, depth := b[2]>>4, b[2]&15, int(b[3]>>4), b[3]>>1&7
	number, k := codedNumber(b[4:])
	if k == 0 || b[3]&1 != 0 || layout > midSide || depth == 3 || rate == 15 || size == 0 {
		return h, errHeader
	}
	k += 4
	extra := [16]int{6: 1, 7: 2}[size] + [16]int{12: 1, 13: 2, 14: 2}[rate]
	if len(b) < k+extra+1 || crc8(b[:k+extra]) != b[k+extra] && !f.unchecked {
		return h, errHeader
	}
	h.header, h.layout = k+extra+1, layout
	switch {
	case size == 1:
		h.n = 192
	case size < 6:
		h.n = 576 << (size - 2)
	case size == 6:
		h.n = int(b[k]) + 1
	case size == 7:
		h.n = int(binary.BigEndian.Uint16(b[k:])) + 1
	default:
		h.n = 256 << (size - 8)
	}
	count := layout + 1
	if layout >= leftSide {
		count = 2
	}
	if bits := [8]int{0, 8, 12, 0, 16, 20, 24, 32}[depth]; count != f.info.Channels || bits != 0 && bits != f.info.Bits {
		return h, fmt.Errorf("a block of %s and %d bits: want %d and %d, as the header of the file says", channels(count), bits, f.info.Channels, f.info.Bits)
	}
	h.from = number
	if b[1]&1 == 0 { // all blocks have one size
		one := f.blockSize
		if one == 0 {
			one = int64(h.n)
		}
		if number > 1<<36/one {
			return h, errHeader
		}
		h.from = number * one
	}
	return h, nil
}

// codedNumber reads a number of up to 36 bits, coded as UTF-8 codes characters, and how many bytes it has, which are 0
// if it is none.
func codedNumber(b []byte) (number int64, n int) {
	n = bits.LeadingZeros8(^b[0])
	switch {
	case n == 0:
		return int64(b[0]), 1
	case n == 1 || n == 8 || len(b) < n:
		return 0, 0
	}
	number = int64(b[0] & (0xff >> (n + 1)))
	for _, x := range b[1:n] {
		if x&0xc0 != 0x80 {
			return 0, 0
		}
		number = number<<6 | int64(x&0x3f)
	}
	return number, n
}

// decode decodes the block at that byte, which must begin with that frame, unless it is -1.
func (f *flac) decode(at, from int64) error {
	f.bits.seek(at)
	head := f.bits.ahead(maxHeader)
	h, err := f.header(head)
	switch {
	case f.bits.err != nil:
		return f.bits.err
	case err != nil && len(head) < 6:
		return f.ended(at)
	case err != nil:
		return fmt.Errorf("byte %d: %w", at, err)
	case from >= 0 && h.from != from:
		return fmt.Errorf("byte %d: a block with frame %d and more, want frame %d", at, h.from, from)
	}
	f.block = flacBlock{}
	if values := h.n * f.info.Channels; len(f.samples) < values {
		values = max(values, int(f.blockSize)*f.info.Channels)
		if err := f.budget.Memory(int64(8 * values)); err != nil {
			return err
		}
		f.samples = make([]int64, values)
	}
	f.bits.begin()
	f.bits.next += h.header
	for c := range f.info.Channels {
		depth := f.info.Bits
		if h.layout == leftSide && c == 1 || h.layout == sideRight && c == 0 || h.layout == midSide && c == 1 {
			depth++
		}
		if err := f.subblock(f.samples[c*h.n:][:h.n], uint(depth)); err != nil {
			return fmt.Errorf("byte %d, in the block at byte %d: %w", f.bits.offset(), at, err)
		}
	}
	f.bits.align()
	sum := f.bits.checksum()
	want := uint16(f.bits.read(16))
	switch {
	case f.bits.err != nil:
		return f.bits.err
	case sum != want && !f.unchecked:
		return fmt.Errorf("the block at byte %d is damaged: its CRC-16 is %04x, want %04x", at, sum, want)
	}
	join(h.layout, f.samples[:h.n], f.samples[h.n:])
	h.begin, h.end = at, f.bits.offset()
	f.block = h
	return nil
}

// join makes left and right of two channels that are coded otherwise.
func join(layout int, a, b []int64) {
	if layout < leftSide {
		return
	}
	b = b[:len(a)]
	switch layout {
	case leftSide:
		for i, left := range a {
			b[i] = left - b[i]
		}
	case sideRight:
		for i, right := range b {
			a[i] += right
		}
	case midSide:
		for i, side := range b {
			mid := a[i]<<1 | side&1
			a[i], b[i] = (mid+side)>>1, (mid-side)>>1
		}
	}
}

// subblock decodes one channel of a block, of that many bits (RFC 9639, section 9.2).
func (f *flac) subblock(x []int64, depth uint) error {
	r := &f.bits
	if r.read(1) != 0 {
		return errors.New("the first bit of a channel is 1, want 0")
	}
	kind, wasted := r.read(6), uint(0)
	if r.read(1) != 0 {
		w := r.unary() + 1
		if w >= uint64(depth) {
			return fmt.Errorf("%d unused bits of %d", w, depth)
		}
		wasted = uint(w)
	}
	depth -= wasted
	order := 0
	var err error
	switch {
	case kind == 0:
		v := r.signed(depth)
		for i := range x {
			x[i] = v
		}
	case kind == 1:
		for i := range x {
			x[i] = r.signed(depth)
		}
	case kind >= 8 && kind <= 12:
		order = int(kind - 8)
		err = f.fixed(x, order, depth)
	case kind >= 32:
		order = int(kind - 31)
		err = f.linear(x, order, depth)
	default:
		err = fmt.Errorf("unknown prediction %06b", kind)
	}
	if err == nil {
		err = r.err
	}
	if err == nil && wasted > 0 {
		for i := range x {
			x[i] <<= wasted
		}
	}
	return err
}

// warmUp reads the values from which others are predicted, and what the prediction misses.
func (f *flac) warmUp(x []int64, order int, depth uint) error {
	if order > len(x) {
		return fmt.Errorf("a prediction from %d values in a block of %d", order, len(x))
	}
	for i := range order {
		x[i] = f.bits.signed(depth)
	}
	return nil
}

// fixed predicts by a polynomial.
func (f *flac) fixed(x []int64, order int, depth uint) error {
	if err := f.warmUp(x, order, depth); err != nil {
		return err
	}
	if err := f.residual(x, order); err != nil {
		return err
	}
	switch order {
	case 1:
		for i := 1; i < len(x); i++ {
			x[i] += x[i-1]
		}
	case 2:
		for i := 2; i < len(x); i++ {
			x[i] += 2*x[i-1] - x[i-2]
		}
	case 3:
		for i := 3; i < len(x); i++ {
			x[i] += 3*x[i-1] - 3*x[i-2] + x[i-3]
		}
	case 4:
		for i := 4; i < len(x); i++ {
			x[i] += 4*x[i-1] - 6*x[i-2] + 4*x[i-3] - x[i-4]
		}
	}
	return nil
}

// linear predicts by coefficients that stand in the file.
func (f *flac) linear(x []int64, order int, depth uint) error {
	if err := f.warmUp(x, order, depth); err != nil {
		return err
	}
	precision := uint(f.bits.read(4)) + 1
	shift := f.bits.signed(5)
	if precision == 16 || shift < 0 {
		return fmt.Errorf("coefficients of %d bits, shifted by %d", precision, shift)
	}
	coeffs := f.coeffs[:order]
	for j := range coeffs {
		coeffs[order-1-j] = f.bits.signed(precision) // the first belongs to the latest value
	}
	if err := f.residual(x, order); err != nil {
		return err
	}
	for i := order; i < len(x); i++ {
		before := x[i-order : i]
		sum := int64(0)
		for j, c := range coeffs[:len(before)] {
			sum += c * before[j]
		}
		x[i] += sum >> uint(shift)
	}
	return nil
}

// residual reads what a prediction misses, for all values but the first ones: in partitions of one Rice parameter
// each (RFC 9639, section 9.2.7).
func (f *flac) residual(x []int64, order int) error {
	r := &f.bits
	method := r.read(2)
	if method > 1 {
		return fmt.Errorf("unknown coding %02b of residuals", method)
	}
	parts := uint(r.read(4))
	size := len(x) >> parts
	if size<<parts != len(x) || size < order {
		return fmt.Errorf("2^%d partitions of %d values, of which the first %d are not predicted", parts, len(x), order)
	}
	width := 4 + uint(method)
	for p := range 1 << parts {
		part := x[max(p*size, order) : (p+1)*size]
		k := uint(r.read(width))
		if k == 1<<width-1 { // not coded
			k = uint(r.read(5))
			for i := range part {
				part[i] = r.signed(k)
			}
		} else if err := r.rice(part, k); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// rice reads values whose upper bits are a number in unary, and whose k lower bits stand as they are. The lowest is the sign.
func (r *bitReader) rice(x []int64, k uint) error {
	for i := range x {
		var u uint64
		if r.n < 48 {
			r.load()
		}
		if z := uint(bits.LeadingZeros64(r.bits)); z+1+k <= r.n {
			rest := r.bits << (z + 1)
			u = uint64(z)<<k | rest>>(64-k)
			r.bits = rest << k
			r.n -= z + 1 + k
		} else {
			u = r.unary()
			if u > 1<<32>>k {
				return errors.New("a residual of more than 32 bits")
			}
			u = u<<k | r.read(k)
		}
		x[i] = int64(u>>1) ^ -int64(u&1)
		if r.err != nil {
			return r.err
		}
	}
	return nil
}
