package bmp_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/bmp"
	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFilesBecomePillowsRGB(t *testing.T)  { pillowtest.Equal(t, new(bmp.Decoder)) }
func TestWindowsAreCrops(t *testing.T)        { pillowtest.Windows(t, new(bmp.Decoder)) }
func TestImagesTakeNoAllocation(t *testing.T) { pillowtest.Still(t, new(bmp.Decoder)) }

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	pillowtest.Cut(t, new(bmp.Decoder), func(string) bool { return true })
}

func FuzzDecode(f *testing.F) {
	open := func() pillowtest.Decoder { return new(bmp.Decoder) }
	pillowtest.Fuzz(f, open, func(int, int) int { return 0 })
}

// file is a bitmap of 2×2 pixels with a header of 40 bytes.
func file(bits uint16, compression, colours uint32, rest ...byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("BM            "), 40)
	binary.LittleEndian.PutUint32(b[10:], 0)
	b = binary.LittleEndian.AppendUint32(b, 2)
	b = binary.LittleEndian.AppendUint32(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, bits)
	for _, v := range []uint32{compression, 0, 0, 0, colours, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, rest...)
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	twoGrays := []byte{0, 0, 0, 0, 255, 255, 255, 0}
	headerOf16 := file(24, 0, 0)
	headerOf16[14] = 16
	for _, test := range []struct {
		file        []byte
		want        string
		unsupported bool
	}{
		{nil, "unexpected EOF", false},
		{headerOf16, "header of 16 bytes which penstock does not read", true},
		{file(2, 0, 0), "2 bits per pixel which penstock does not read", true},
		{file(24, 4, 0), "compression 4 which penstock", true},
		{file(24, 5, 0), "compression 5 which penstock", true},
		{file(8, 1, 0), "compression 1 (runs, RLE) which penstock", true},
		{file(1, 3, 0), "compression 3 (masks, or Huffman of OS/2) of 1 bits", true},
		{file(16, 3, 0, 0, 15, 0, 0, 240, 0, 0, 0, 15, 0, 0, 0), "16 bits per pixel with the masks [0xf00 0xf0 0xf 0x0]", true},
		{file(8, 0, 257), "palette of 257 colours", true},
		{file(8, 0, 2, append(twoGrays, 0, 1, 0, 0, 1, 0, 0, 0)...), "8 bits per pixel with a palette of black and white", true},
		{file(4, 0, 1, 0, 0, 0, 0), "4 bits per pixel with a palette of the greys 0, 1, 2", true},
		{file(24, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 3, 4, 5), "unexpected EOF: 67 bytes are too few for 2×2 pixels", false},
	} {
		var d bmp.Decoder
		_, _, err := d.Header(test.file)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "bmp: header: ") {
			t.Errorf("got %v, want %q", err, test.want)
			continue
		}
		if got := errors.Is(err, errors.ErrUnsupported); got != test.unsupported {
			t.Errorf("%v: unsupported is %v, want %v", err, got, test.unsupported)
		}
	}
}

// TestNumbersBeyondAnIntAreErrors has palettes whose size is more than an int of 32 bits holds.
func TestNumbersBeyondAnIntAreErrors(t *testing.T) {
	for colours := uint32(1 << 31); colours > 0; colours = colours>>1 | 1<<31 {
		for _, bits := range []uint16{1, 4, 8} {
			var d bmp.Decoder
			if _, _, err := d.Header(append(file(bits, 0, colours), make([]byte, 99)...)); err == nil {
				t.Errorf("a palette of %d colours: no error", colours)
			}
		}
		if colours == 1<<32-1 {
			break
		}
	}
}

// TestALargeImageThatIsNotThereTakesLittle has an image that the file does not have.
func TestALargeImageThatIsNotThereTakesLittle(t *testing.T) {
	claims := slices.Clone(file(24, 0, 0))
	binary.LittleEndian.PutUint32(claims[18:], 1<<30)
	binary.LittleEndian.PutUint32(claims[22:], 1<<30)
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(bmp.Decoder) }, 0, map[string][]byte{
		"a large image": claims,
	})
}
