package webp_test

import (
	"encoding/binary"
	"image"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/pillowtest"
)

// A bitWriter appends bits, the lowest first.
type bitWriter struct {
	bytes []byte
	n     int
}

func (w *bitWriter) put(v uint32, n int) {
	for range n {
		if w.n%8 == 0 {
			w.bytes = append(w.bytes, 0)
		}
		w.bytes[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// one puts a Huffman code of that symbol alone.
func (w *bitWriter) one(symbol uint32) {
	w.put(0b101, 3)
	w.put(symbol, 8)
}

// two puts a Huffman code of the first two symbols, in the form for codes of any length.
func (w *bitWriter) two() {
	w.put(0, 1+4)
	for _, length := range []uint32{0, 1, 0, 1} { // of the lengths 17, 18, 0 and 1
		w.put(length, 3)
	}
	w.put(1, 1+3)
	w.put(0, 2) // of two symbols
	w.put(0, 2) // whose length is 1
}

// lossless is a file of one pixel whose Huffman codes come in so many groups.
func lossless(groups int) []byte {
	var w bitWriter
	w.put(0x2f, 8)
	w.put(0, 14+14+1+3)
	w.put(0, 1)   // no transform
	w.put(1, 1)   // recent colours:
	w.put(11, 4)  // 2048
	w.put(1, 1+3) // groups
	w.put(0, 1)   // the image that selects them has no recent colours
	w.one(uint32(groups-1) & 255)
	w.one(uint32(groups-1) >> 8)
	for range 3 {
		w.one(0)
	}
	for range 5 * groups {
		w.two()
	}
	w.put(0, 64)
	if len(w.bytes)%2 == 1 {
		w.bytes = append(w.bytes, 0)
	}
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(12+len(w.bytes)))
	file = append(file, "WEBPVP8L"...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(w.bytes))), w.bytes...)
}

// groupsMemory is what x/image allocates for the Huffman codes of the 2600 groups that it accepts: for each
// one the lengths and the codes of all symbols, of which the file may say the first two.
const groupsMemory = 2600 * 2 * 4 * (256 + 24 + 2048 + 3*256 + 40)

func TestGroupsOfCodesTakeTheMemoryOfTheirSymbols(t *testing.T) {
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(webp.Decoder) }, groupsMemory, map[string][]byte{
		"a group":             lossless(1),
		"as many as it takes": lossless(2600),
		"too many":            lossless(1 << 16),
	})
	var d webp.Decoder
	for groups, ok := range map[int]bool{1: true, 2600: true, 2601: false} {
		_, _, err := d.Header(lossless(groups))
		if err == nil {
			err = d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1))
		}
		if (err == nil) != ok {
			t.Errorf("%d groups: error %v", groups, err)
		}
	}
}
