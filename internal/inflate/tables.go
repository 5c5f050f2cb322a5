package inflate

import "math/bits"

// An entry of a table is found by the next bits of the stream. Its lowest 6 bits are the length of the code, and what
// lies above bit 16 is the byte, or the least length or distance, to which as many bits of the stream are added as bits
// 8 to 11 say. Or else that is where the table of longer codes begins, and how many bits find an entry there.
const (
	isWrong   = 1 << 12 // no code: the length is that of the longest ones
	isEnd     = 1 << 13 // of the block; or no code
	isTable   = 1 << 14
	isLiteral = 1 << 15
)

// Codes of up to so many bits are in the first part of a table. All tables together are no longer than zlib's
// examples/enough.c says for a full code: 286 symbols take 1334 entries, 30 symbols 402.
const (
	literalBits, literalEntries   = 10, 1334
	distanceBits, distanceEntries = 8, 402
	lengthBits, lengthEntries     = 7, 128
	longestCode                   = 15
	noCode                        = isWrong | isEnd | longestCode
)

// tables are those of a block.
type tables struct {
	literals  [literalEntries]uint32
	distances [distanceEntries]uint32
	lengths   [lengthEntries]uint32 // of the codes of the other two
	fixed     bool                  // literals and distances are the fixed ones
}

// literal is the entry of a literal or a length without its code.
func literal(symbol int) uint32 {
	switch k := symbol - 257; {
	case k < -1:
		return uint32(symbol)<<16 | isLiteral
	case k == -1:
		return isEnd
	case k < 8:
		return uint32(k+3) << 16
	case k < 28:
		extra := uint32(k/4 - 1)
		return (3+uint32(4+k%4)<<extra)<<16 | extra<<8
	case k == 28:
		return longest << 16
	}
	return isWrong | isEnd
}

// distance is the entry of a distance without its code.
func distance(symbol int) uint32 {
	switch {
	case symbol < 4:
		return uint32(symbol+1) << 16
	case symbol < 30:
		extra := uint32(symbol/2 - 1)
		return (1+uint32(2+symbol%2)<<extra)<<16 | extra<<8
	}
	return isWrong
}

// number is the entry of a symbol that is itself.
func number(symbol int) uint32 { return uint32(symbol) << 16 }

// build fills a table for the codes of symbols with these lengths. Like zlib it accepts only full codes, and those of
// one symbol with one bit. An empty code is no error before it is used.
func build(table []uint32, primary uint, lengths []uint8, entry func(symbol int) uint32) error {
	var count [longestCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	free, most := 1, 0
	var next [longestCode + 1]uint // codes
	code := uint(0)
	for n := 1; n <= longestCode; n++ {
		code = (code + uint(count[n-1])) << 1
		next[n] = code
		free = free<<1 - count[n]
		if free < 0 {
			return errCorrupt
		}
		if count[n] > 0 {
			most = n
		}
	}
	if free > 0 && most > 1 {
		return errCorrupt
	}
	first := table[:1<<primary]
	if free > 0 {
		for i := range first {
			first[i] = noCode
		}
	}
	if uint(most) > primary {
		widths(first, primary, lengths, next)
	}
	end := uint32(len(first)) // of the tables so far
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		n := uint(n)
		at := reversed(next[n], n)
		next[n]++
		e := entry(symbol) | uint32(n)
		if n <= primary {
			for ; at < uint(len(first)); at += 1 << n {
				first[at] = e
			}
			continue
		}
		low := at & (1<<primary - 1)
		if first[low]&isTable == 0 {
			width := first[low]
			first[low] = end<<16 | width<<8 | isTable
			end += 1 << width
		}
		width := first[low] >> 8 & 15
		more := table[first[low]>>16:][:1<<width]
		for at >>= primary; at < uint(len(more)); at += 1 << (n - primary) {
			more[at] = e
		}
	}
	return nil
}

// widths sets the entries of the beginnings of codes that are longer than primary: how many bits the longest of these has
// beyond.
func widths(first []uint32, primary uint, lengths []uint8, next [longestCode + 1]uint) {
	clear(first)
	for _, n := range lengths {
		if n := uint(n); n > primary {
			low := reversed(next[n], n) & (1<<primary - 1)
			first[low] = max(first[low], uint32(n-primary))
		}
		next[n]++
	}
}

// reversed is a code of n bits as it comes in the stream, its first bit lowest.
func reversed(code, n uint) uint { return uint(bits.Reverse16(uint16(code))) >> (16 - n) }

// fix sets the codes of blocks without codes of their own.
func (t *tables) fix() {
	if t.fixed {
		return
	}
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	if err := build(t.literals[:], literalBits, lengths[:], literal); err != nil {
		panic(err)
	}
	for i := range 32 {
		lengths[i] = 5
	}
	if err := build(t.distances[:], distanceBits, lengths[:32], distance); err != nil {
		panic(err)
	}
	t.fixed = true
}

// order is that of the lengths of the codes of lengths.
var order = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block.
func (d *decoder) readCodes() error {
	t := &d.codes
	t.fixed = false
	if err := d.need(14); err != nil {
		return err
	}
	literals, distances, n := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if literals > 286 || distances > 30 {
		return errCorrupt
	}
	var lengths [286 + 30]uint8
	for _, k := range order[:n] {
		if err := d.need(3); err != nil {
			return err
		}
		lengths[k] = uint8(d.take(3))
	}
	if err := build(t.lengths[:], lengthBits, lengths[:len(order)], number); err != nil {
		return err
	}
	clear(lengths[:len(order)])
	all := lengths[:literals+distances]
	for at := 0; at < len(all); {
		e, err := d.symbol(t.lengths[:], lengthBits)
		if err != nil {
			return err
		}
		if e&isWrong != 0 {
			return errCorrupt
		}
		v := uint8(e >> 16)
		if v < 16 {
			all[at] = v
			at++
			continue
		}
		least, extra := 3, uint(2)
		if v == 17 {
			extra = 3
		} else if v == 18 {
			least, extra = 11, 7
		}
		if err := d.need(extra); err != nil {
			return err
		}
		n := least + int(d.take(extra))
		if n > len(all)-at || v == 16 && at == 0 {
			return errCorrupt
		}
		if v == 16 {
			for k := range n {
				all[at+k] = all[at-1]
			}
		}
		at += n
	}
	if err := build(t.literals[:], literalBits, all[:literals], literal); err != nil {
		return err
	}
	return build(t.distances[:], distanceBits, all[literals:], distance)
}
