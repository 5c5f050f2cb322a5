package blockcode

import (
	_ "embed"
	"encoding/binary"
	"math/bits"
	"sync"
)

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
