package jpeg_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// segment is a marker, the length and what follows.
func segment(marker byte, body ...byte) []byte {
	n := len(body) + 2
	return slices.Concat([]byte{0xff, marker, byte(n >> 8), byte(n)}, body)
}

// quant is a quantisation table of ones.
func quant(id byte) []byte {
	return segment(0xdb, slices.Concat([]byte{id}, bytes.Repeat([]byte{1}, 64))...)
}

// codes is a Huffman table: the numbers of codes of 1, 2 and 3 bits, and their
// symbols.
func codes(id byte, count [3]byte, symbols ...byte) []byte {
	return segment(0xc4, slices.Concat([]byte{id}, count[:], make([]byte, 13), symbols)...)
}

// tiny is a file of 8×8 pixels.
func tiny(segments ...[]byte) []byte {
	return slices.Concat([]byte{0xff, 0xd8}, slices.Concat(segments...), []byte{0xff, 0xd9})
}

// The parts of tiny files. The DC codes: 0 is a difference of 0, 10 is one of 4
// bits, which follow. The AC codes: 0 is the end of the block, 10 is the one symbol
// that a file chooses.
var (
	frame      = segment(0xc0, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)
	frameOf3   = segment(0xc0, 8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
	refined    = segment(0xc2, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)
	refinedOf3 = segment(0xc2, 8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
	dc         = codes(0x00, [3]byte{1, 1}, 0, 4)
	ac         = codes(0x10, [3]byte{1, 1}, 0, 0xf1)
)

// scanOf is a sequential scan of some components.
func scanOf(code []byte, ids ...byte) []byte {
	body := []byte{byte(len(ids))}
	for _, id := range ids {
		body = append(body, id, 0)
	}
	return slices.Concat(segment(0xda, append(body, 0, 63, 0)...), code)
}

// TestRulesAreLibjpegs has files that libjpeg-turbo 3 decodes without a warning, and
// similar files that it refuses.
func TestRulesAreLibjpegs(t *testing.T) {
	plain := tiny(quant(0), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)) // DC 12
	of3 := scanOf([]byte{0b10_1100_0_0, 0b0_0_0_11111}, 1, 2, 3)
	gray3 := tiny(quant(0), frameOf3, dc, ac, of3)
	first := segment(0xda, 1, 1, 0, 0, 0, 0)
	progressive := tiny(quant(0), refined, dc, slices.Concat(first, []byte{0b10_1100_11}))
	// Coefficients at 16, 32, 48, 63; the symbol of the last one means 63 or 64.
	long := codes(0x10, [3]byte{1, 0, 2}, 0xf1, 0xe1, 0)
	at63 := tiny(quant(0), frame, dc, long, scanOf([]byte{0b0_01_01_01_1, 0b00_1_11111}, 1))
	atOnce := [][]byte{quant(0), frameOf3, dc, codes(0x10, [3]byte{1, 0, 2}, 0x01, 0xe1, 0), scanOf([]byte{0b0_01_01_01_1, 0b001_101_11}, 1),
		scanOf([]byte{0b0_101_1111}, 2), scanOf([]byte{0b0_101_1111}, 3)}
	at63again := segment(0xda, 1, 1, 0, 1, 63, 0)

	for name, c := range map[string]struct {
		file []byte
		same []byte // a file with the same pixels, or nil if libjpeg gives an error
	}{
		"16-bit table of precision 2": {
			tiny(segment(0xdb, slices.Concat([]byte{0x20}, bytes.Repeat([]byte{0, 1}, 64))...), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), plain},
		"quantisation table 4": {tiny(quant(0), quant(4), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), nil},
		"AC table 8 of a DC scan": {
			tiny(quant(0), refined, dc, slices.Concat(segment(0xda, 1, 1, 8, 0, 0, 0), []byte{0b10_1100_11})), progressive},
		"DC table 8 of a DC scan": {
			tiny(quant(0), refined, dc, slices.Concat(segment(0xda, 1, 1, 0x80, 0, 0, 0), []byte{0b10_1100_11})), nil},
		"all-ones code, unused": {tiny(quant(0), codes(1, [3]byte{2}, 0, 1), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), plain},
		"all-ones code":         {tiny(quant(0), frame, codes(0, [3]byte{2}, 0, 4), ac, scanOf([]byte{0b1_1100_0_11}, 1)), nil},
		"difference of 16 bits, unused": {
			tiny(quant(0), codes(1, [3]byte{1}, 16), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), plain},
		"difference of 16 bits": {tiny(quant(0), frame, codes(0, [3]byte{1, 1}, 4, 16), ac, scanOf([]byte{0b0_1100_0_11}, 1)), nil},
		"comment of length 0": {
			tiny([]byte{0xff, 0xfe, 0, 0}, quant(0), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), plain},
		"Huffman tables of length 1": {tiny([]byte{0xff, 0xc4, 0, 1}, quant(0), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), nil},
		"Huffman tables of length 2": {tiny([]byte{0xff, 0xc4, 0, 2}, quant(0), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1)), plain},
		"component scanned again": {
			tiny(quant(0), frameOf3, dc, ac, scanOf([]byte{0b0_0_111111}, 1), scanOf([]byte{0b0_0_111111}, 2),
				scanOf([]byte{0b0_0_111111}, 3), scanOf([]byte{0b10_1100_0_1}, 1)), gray3},
		"component scanned again without its coefficients": {tiny(append(atOnce, scanOf([]byte{0b0_101_1111}, 1))...), tiny(atOnce...)},
		"first coefficients again": {
			tiny(quant(0), refined, dc, slices.Concat(first, []byte{0b0_1111111}), slices.Concat(first, []byte{0b10_1100_11})), progressive},
		"no scan of the last component": {tiny(quant(0), frameOf3, dc, ac, scanOf([]byte{0b10_1100_0_0, 0b0_0_111111}, 1, 2)), gray3},
		"second and first component":    {tiny(quant(0), frameOf3, dc, ac, scanOf([]byte{0b0_0_10_1100, 0b0_0_0_11111}, 2, 1, 3)), nil},
		"third and second component": {
			tiny(quant(0), frameOf3, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1), scanOf([]byte{0b0_0_0_0_1111}, 3, 2)), gray3},
		"a component twice":  {tiny(quant(0), frameOf3, dc, ac, scanOf([]byte{0b0_0_0_0_0_0_11}, 1, 1, 3)), nil},
		"coefficient 64":     {tiny(quant(0), frame, dc, long, scanOf([]byte{0b0_01_01_01_0, 0b1_0111111}, 1)), at63},
		"coefficient 64, AC": {tiny(quant(0), refined, dc, slices.Concat(first, []byte{0b0_1111111}), long, slices.Concat(at63again, []byte{0b01_01_01_01})), at63},
		"lines after the scan": {
			tiny(quant(0), segment(0xc0, 8, 0, 0, 0, 8, 1, 1, 0x11, 0), dc, ac, scanOf([]byte{0b10_1100_0_1}, 1), segment(0xdc, 0, 8)), nil},
		"second scan of all components": {tiny(quant(0), frame, dc, ac, scanOf([]byte{0b10_1100_0_1}, 1), scanOf([]byte{0b0_0_111111}, 1)), nil},
		"second frame, cut short":       {append(plain[:len(plain)-2:len(plain)-2], frame[:8]...), nil},
		"reserved marker, cut short":    {append(plain[:len(plain)-2:len(plain)-2], 0xff, 0x33, 0), nil},
	} {
		var d jpeg.Decoder
		got, err := decode(&d, c.file)
		if c.same == nil {
			if err == nil {
				t.Errorf("%s: decoded, want an error", name)
			}
			continue
		}
		want, sound := decode(&jpeg.Decoder{}, c.same)
		if sound != nil {
			t.Fatalf("%s: %v", name, sound)
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other pixels, or %v", name, err)
		}
	}
}

// TestImageWithoutItsFirstComponentIsAnError tests where the decoder is stricter
// than libjpeg, which gives a gray image.
func TestImageWithoutItsFirstComponentIsAnError(t *testing.T) {
	for _, frame := range [][]byte{frameOf3, refinedOf3} {
		scan := slices.Concat(segment(0xda, 1, 2, 0, 0, 0, 0), []byte{0b0_0_111111})
		if _, err := decode(&jpeg.Decoder{}, tiny(quant(0), frame, dc, ac, scan)); err == nil {
			t.Error("decoded, want an error")
		}
	}
}

// TestShortJFIFSegmentIsIgnored has an Adobe segment, which means RGB, and a JFIF
// segment, which means YCbCr if it is complete.
func TestShortJFIFSegmentIsIgnored(t *testing.T) {
	adobe := segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	whole := []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")
	for n, want := range map[int]jpeg.Model{14: jpeg.YCbCr, 13: jpeg.RGB, 5: jpeg.RGB} {
		var d jpeg.Decoder
		c, err := d.Header(tiny(segment(0xe0, whole[:n]...), adobe, quant(0), frameOf3, dc, ac, scanOf([]byte{0}, 1, 2, 3)))
		if err != nil || c.Model != want {
			t.Errorf("%d bytes: got model %d and %v, want %d", n, c.Model, err, want)
		}
	}
}
