// Package blockcode codes rows of quantised DCT blocks as bytes, and decodes them much
// faster than a JPEG's Huffman code. It loses nothing: every block comes back as it was.
//
// A row is some blocks of one component, in order. Its code stands alone: it needs no
// other row. The number of blocks, the level and the length of the code are not part of
// it. It has no checksum.
//
// # Level Fast
//
// The code of n blocks consists of a header and seven streams without gaps. There is no
// code for n = 0. Multi-byte numbers are little-endian, and nibbles fill the lower half
// of a byte first.
//
//	header   the number of patches, as an unsigned varint
//	lengths  n nibbles, 0 to 8: how many bytes of masks the block has
//	DCs      n bytes: the difference to the previous block's DC coefficient (to 0 in
//	         the first block) if it is within -127 to 127, else -128
//	masks    in the order of the blocks: bit k-1 of a block's mask, 0 to 62, says
//	         whether its coefficient k in zigzag order differs from zero
//	values   a nibble for each bit that is set: the coefficient if it is within -8 to
//	         7, else 0
//	escapes  a byte for each zero among the values: the coefficient's lower 8 bits
//	wide     two bytes for each -128 among the DCs: the difference modulo 65536
//	patches  three bytes for each coefficient beyond -128 to 127, see below
//
// The lengths and the values are filled up to a whole byte, with the nibbles 0 and 1. The
// lengths of all streams follow from the streams before them, and that of the escapes
// from the rest.
//
// A patch is a number of 24 bits. The lower 10 bits are how many blocks to go on from the
// previous patch's block (at first from block 0), the next 6 the place in zigzag order,
// and the upper 8 the upper half of the coefficient. A patch with place 0 only goes on.
//
// # Level Small
//
// The streams are those of Fast, and the first five of them are compressed with Huffman
// codes. The header goes on with the code set, a byte from 0 to 7, and unsigned varints:
// the numbers of escapes and of wide differences, and the lengths in bytes of the first
// seven of eight lanes. Then come the lanes, the wide differences and the patches.
//
// Byte i of a stream is in lane i modulo 8. A lane has its bytes of the streams one after
// the other. It is a sequence of bits, from the lowest of a byte to the highest, and its
// last byte is filled with zeros. A code begins with its highest bit. The codes of a set
// are canonical: those of one length are numbered in the order of the bytes, after all
// shorter ones. The sets are fixed. They are part of the format.
package blockcode

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A Block holds 8×8 quantised coefficients, row by row. The first is the DC coefficient
// itself, not a difference. Any values are legal.
type Block = jpeg.Block

// A Level says how a row is coded.
type Level uint8

// Fast decodes fastest. Small has about 0.8 of its size.
const (
	Fast Level = iota
	Small
)

// MaxBlocks is the most blocks that a row may have. A JPEG has at most 32768 in one
// component of an MCU row.
const MaxBlocks = 1 << 16

// Slack is how many bytes after a row's code must be readable for the kernels to run,
// within the slice's capacity. The bytes may have any values. Without them Decode is
// slower.
const Slack = 64

var (
	errSizes  = errors.New("blockcode: blocks and last have different lengths")
	errBlocks = fmt.Errorf("blockcode: a row has more than %d blocks", MaxBlocks)
	errLevel  = errors.New("blockcode: unknown level")
)

// corrupt is the error of an invalid code.
func corrupt(stream string) error {
	return fmt.Errorf("blockcode: decode: invalid %s", stream)
}

// zigzag is the index, row by row, of the k-th coefficient in the masks' order.
var zigzag = jpeg.ZigZag()

// wideDC in the stream of DC differences stands for one in the stream wide.
const wideDC = -128

// goOn is the furthest that a patch goes on, in blocks.
const goOn = 1<<10 - 1

// An Encoder encodes rows and keeps its memory between them. The zero value is ready
// for use by one goroutine at a time.
type Encoder struct {
	streams
	nibbles [2][]byte // of lengths and values, one per byte
	lanes   [lanes]bitWriter
}

// Append appends the code of the blocks to dst. It fails for more than MaxBlocks blocks
// and for an unknown level. Slack for the decoder is the caller's to add.
func (e *Encoder) Append(dst []byte, level Level, blocks []Block) ([]byte, error) {
	if len(blocks) > MaxBlocks {
		return dst, errBlocks
	}
	if level > Small {
		return dst, errLevel
	}
	if len(blocks) == 0 {
		return dst, nil
	}
	e.gather(blocks)
	dst = binary.AppendUvarint(dst, uint64(len(e.patches)/patchSize))
	if level == Small {
		return e.appendSmall(dst), nil
	}
	for _, s := range [][]byte{e.lengths, e.dcs, e.masks, e.values, e.escapes, e.wide, e.patches} {
		dst = append(dst, s...)
	}
	return dst, nil
}

// gather fills the streams.
func (e *Encoder) gather(blocks []Block) {
	for _, s := range []*[]byte{&e.dcs, &e.masks, &e.escapes, &e.wide, &e.patches, &e.nibbles[0], &e.nibbles[1]} {
		*s = (*s)[:0]
	}
	lengths, values := e.nibbles[0], e.nibbles[1]
	predicted, patched := int16(0), 0
	for i := range blocks {
		b := &blocks[i]
		difference := b[0] - predicted // modulo 65536
		predicted = b[0]
		if difference > wideDC && difference <= 127 {
			e.dcs = append(e.dcs, byte(difference))
		} else {
			e.dcs = append(e.dcs, wideDC&0xff)
			e.wide = binary.LittleEndian.AppendUint16(e.wide, uint16(difference))
		}

		var mask uint64
		for k := 1; k < 64; k++ {
			v := b[zigzag[k]]
			if v == 0 {
				continue
			}
			mask |= 1 << (k - 1)
			if v >= -8 && v <= 7 {
				values = append(values, byte(v)&15)
				continue
			}
			values = append(values, 0)
			e.escapes = append(e.escapes, byte(v))
			if v != int16(int8(v)) {
				for ; i-patched > goOn; patched += goOn {
					e.patch(goOn, 0, 0)
				}
				e.patch(i-patched, k, v)
				patched = i
			}
		}
		length := (bits.Len64(mask) + 7) / 8
		lengths = append(lengths, byte(length))
		e.masks = binary.LittleEndian.AppendUint64(e.masks, mask)
		e.masks = e.masks[:len(e.masks)-8+length]
	}
	e.nibbles = [2][]byte{lengths, values}
	e.lengths = appendNibbles(e.lengths[:0], lengths, 0)
	e.values = appendNibbles(e.values[:0], values, 1)
}

func (e *Encoder) patch(on, place int, v int16) {
	e.patches = append(e.patches, byte(on), byte(on>>8|place<<2), byte(uint16(v)>>8))
}

// appendNibbles packs values below 16, and fills up with last.
func appendNibbles(dst, nibbles []byte, last byte) []byte {
	for i := 0; i+1 < len(nibbles); i += 2 {
		dst = append(dst, nibbles[i]|nibbles[i+1]<<4)
	}
	if n := len(nibbles); n%2 == 1 {
		dst = append(dst, nibbles[n-1]|last<<4)
	}
	return dst
}

const (
	lanes    = 8
	codeBits = 11 // the longest code
	codeSets = 8
)

// codeLengths has the lengths of all codes, as nibbles: 256 for each stream of each set.
// Set 0 has 8 bits for every byte. The others were chosen for 334 photos of ImageNet by
// TestChooseCodeSets.
//
//go:embed codelengths.bin
var codeLengths string

// A word is a code of a symbol. Its first bit is the lowest.
type word struct {
	bits   uint16
	length uint8
}

// A table decodes a code. The index is the next codeBits bits, and an entry is
// symbol<<8 | length.
type table [1 << codeBits]uint16

type codeTables struct {
	words  [codeSets][compressed][256]word
	tables [codeSets][compressed]table
}

// codes returns the tables of all code sets, which must not be changed.
var codes = sync.OnceValue(func() *codeTables {
	c := new(codeTables)
	for set := range codeSets {
		for s := range compressed {
			lengths := codeLengths[(set*compressed+s)*128:][:128]
			assign(&c.words[set][s], &c.tables[set][s], lengths)
		}
	}
	return c
})

// assign numbers the codes of each length in the order of the symbols, the shorter ones
// first.
func assign(words *[256]word, t *table, lengths string) {
	code := 0
	for length := 1; length <= codeBits; length++ {
		for symbol := range 256 {
			if int(lengths[symbol/2]>>(symbol%2*4)&15) != length {
				continue
			}
			reversed := bits.Reverse16(uint16(code)) >> (16 - length)
			words[symbol] = word{reversed, uint8(length)}
			for i := int(reversed); i < len(t); i += 1 << length {
				t[i] = uint16(symbol<<8 | length)
			}
			code++
		}
		code <<= 1
	}
}

// A bitWriter fills bytes from the lowest bit on.
type bitWriter struct {
	bytes []byte
	acc   uint64
	n     uint // bits in acc
}

func (w *bitWriter) add(c word) {
	w.acc |= uint64(c.bits) << w.n
	w.n += uint(c.length)
	for ; w.n >= 8; w.n -= 8 {
		w.bytes = append(w.bytes, byte(w.acc))
		w.acc >>= 8
	}
}

// flush writes the last byte.
func (w *bitWriter) flush() {
	if w.n > 0 {
		w.bytes = append(w.bytes, byte(w.acc))
	}
	w.acc, w.n = 0, 0
}

// A laneReader decodes the lanes side by side.
type laneReader struct {
	src []byte
	at  [lanes]int // bits of src before the next one, by lane
	end [lanes]int // bytes of src before the end of each lane

	kernel bool // src has slack
}

// open starts with lanes of these sizes at the start of src. The last one ends at end. It
// reports whether they have room.
func (r *laneReader) open(src []byte, sizes *[lanes - 1]uint64, end int) bool {
	at := uint64(0)
	for i, size := range sizes {
		r.at[i] = 8 * int(at)
		at += size
		r.end[i] = int(at)
	}
	r.at[lanes-1], r.end[lanes-1] = 8*int(at), end
	r.src = src
	return at <= uint64(end)
}

// read decodes the next len(dst) bytes of a stream. The lanes may run beyond their ends.
func (r *laneReader) read(dst []byte, t *table) {
	if r.kernel && len(dst) > 0 {
		dst = dst[len(dst)-r.readKernel(dst, t):]
	}
	for half := 0; half < lanes; half += 4 {
		r.readFour(dst, half, t)
	}
}

// readFour decodes the bytes of four of the lanes.
func (r *laneReader) readFour(dst []byte, first int, t *table) {
	src, at := r.src, r.at[first:][:4]
	a, b, c, d := at[0], at[1], at[2], at[3]
	i := first
	for safe := 8 * (len(src) - 8); i+4 <= len(dst) && max(a, b, c, d) <= safe; i += lanes {
		e := t[binary.LittleEndian.Uint64(src[a>>3:])>>(a&7)%(1<<codeBits)]
		f := t[binary.LittleEndian.Uint64(src[b>>3:])>>(b&7)%(1<<codeBits)]
		g := t[binary.LittleEndian.Uint64(src[c>>3:])>>(c&7)%(1<<codeBits)]
		h := t[binary.LittleEndian.Uint64(src[d>>3:])>>(d&7)%(1<<codeBits)]
		a += int(e & 15)
		b += int(f & 15)
		c += int(g & 15)
		d += int(h & 15)
		four := dst[i:][:4]
		four[0], four[1], four[2], four[3] = byte(e>>8), byte(f>>8), byte(g>>8), byte(h>>8)
	}
	at[0], at[1], at[2], at[3] = a, b, c, d
	for ; i < len(dst); i += lanes { // near the end of src or of dst
		four := dst[i:min(i+4, len(dst))]
		for j := range four {
			var eight [8]byte
			copy(eight[:], src[min(at[j]>>3, len(src)):])
			e := t[binary.LittleEndian.Uint64(eight[:])>>(at[j]&7)%(1<<codeBits)]
			four[j] = byte(e >> 8)
			at[j] += int(e & 15)
		}
	}
}

// close reports whether every lane has ended in its last byte.
func (r *laneReader) close() bool {
	for i, at := range r.at {
		if (at+7)>>3 != r.end[i] {
			return false
		}
	}
	return true
}
