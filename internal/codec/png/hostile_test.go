package png_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/codec/png"
	"github.com/penstock-go/penstock/internal/hostile"
)

// deflated is the zlib stream of a pixel's row after so many blocks that hold no bytes: with codes of
// their own, with the usual codes, or as they are.
func deflated(tables, fixed, stored int) []byte {
	out := []byte{0x78, 1}
	n := 0
	put := func(v uint64, bits int) { // the lowest bit first
		for range bits {
			if n%8 == 0 {
				out = append(out, 0)
			}
			out[len(out)-1] |= byte(v&1) << (n % 8)
			v >>= 1
			n++
		}
	}
	for range tables {
		put(2<<1, 3)
		put(14<<10, 14) // 257 and 1 codes, of 18 lengths:
		put(1<<6, 9)    // 18 is 1
		put(0, 14*3)
		put(1, 3) // 1 is 0
		put(1|127<<1, 8)
		put(1|107<<1, 8) // 256 zeros
		put(0, 3)        // two codes of one bit, and the end
	}
	for range fixed {
		put(1<<1, 3+7)
	}
	asIs := func(last uint64, b ...byte) {
		put(last, 3)
		put(0, -n&7)
		out = append(append(out, byte(len(b)), 0, ^byte(len(b)), 0xff), b...)
	}
	for range stored {
		asIs(0)
	}
	row := []byte{0, 7}
	asIs(1, row...)
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(row))
}

// TestManyPartsThatSayLittleTakeLittle has blocks and chunks without bytes, and chunks that would
// decompress to many bytes.
func TestManyPartsThatSayLittleTakeLittle(t *testing.T) {
	const n = 1 << 18
	var zeros bytes.Buffer
	z := zlib.NewWriter(&zeros)
	_, _ = z.Write(make([]byte, 1<<26))
	_ = z.Close()
	bomb := append([]byte("x\x00\x00"), zeros.Bytes()...)
	start, end := head(1, 1, 8, png.Grey), chunk("IEND", nil)
	pixel := chunk("IDAT", deflated(0, 0, 0))
	for name, data := range map[string][]byte{
		"blocks with codes":     slices.Concat(start, chunk("IDAT", deflated(n/11, 0, 0)), end),
		"blocks of usual codes": slices.Concat(start, chunk("IDAT", deflated(0, n*8/10, 0)), end),
		"blocks as they are":    slices.Concat(start, chunk("IDAT", deflated(0, 0, n/5)), end),
		"empty chunks":          slices.Concat(start, bytes.Repeat(chunk("IDAT", nil), n/12), pixel, end),
		"unknown chunks":        slices.Concat(start, bytes.Repeat(chunk("tIME", nil), n/12), pixel, end),
		"compressed chunks":     slices.Concat(start, chunk("zTXt", bomb), chunk("iCCP", bomb), chunk("iTXt", bomb), pixel, end),
	} {
		begun := time.Now()
		hostile.Bounded(t, len(data), 0, func() {
			var d png.Decoder
			_, _, err := d.Header(data)
			gray := make([]byte, 4)
			if err == nil {
				err = d.Decode(gray, 4, image.Rect(0, 0, 1, 1))
			}
			if err != nil || gray[0] != 7 {
				t.Errorf("%s: got %v, error %v", name, gray, err)
			}
		})
		t.Logf("%s: %d bytes in %v", name, len(data), time.Since(begun))
	}
}
