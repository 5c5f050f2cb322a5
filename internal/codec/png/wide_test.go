package png_test

import (
	"bytes"
	"compress/zlib"
	"image"
	"math"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/png"
)

// wide is a file of one row of zeros, of which n bytes are in the stream, after so many bytes of a chunk
// that means nothing.
func wide(w uint32, depth byte, colour png.Colour, laced bool, n, more int) []byte {
	data := head(w, 1, depth, colour)
	if laced {
		data[len(data)-5] = 1
		mend(data)
	}
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	z.Write(make([]byte, n))
	z.Close()
	data = append(data, chunk("juNk", make([]byte, more))...)
	return append(append(data, chunk("IDAT", stream.Bytes())...), chunk("IEND", nil)...)
}

func TestWideFilesTakeTheMemoryOfTheirRows(t *testing.T) {
	const w = 1 << 24
	for name, data := range map[string][]byte{
		"not interlaced":              wide(w, 1, png.Grey, false, 1+w/8, 1<<12),
		"interlaced, without any row": wide(w, 1, png.Grey, true, 0, 1<<12),
	} {
		var d png.Decoder
		if _, _, err := d.Header(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var err error
		got := allocs.Bytes(w/2, func() {
			d := d
			err = d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1))
		})
		if whole := !strings.Contains(name, "without"); (err == nil) != whole {
			t.Errorf("%s: got error %v", name, err)
		}
		if got > w/2 {
			t.Errorf("%s: %d bytes for two rows of %d", name, got, w/8)
		}
	}
}

// TestRowsMayHaveMoreBitsThanAnIntCounts begins a row of 268 MB, whose bits an int of 32 bits does not
// count, and one that such an int cannot number.
func TestRowsMayHaveMoreBitsThanAnIntCounts(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		t.Skip("an int has 64 bits")
	}
	var d png.Decoder
	if _, _, err := d.Header(wide(89478486, 8, png.RGB, false, 0, 1<<19)); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1)); err == nil || err.Error() != "png: decode: unexpected EOF" {
		t.Errorf("got error %v, want that the row is not there", err)
	}
	want := "png: rows of 536870912 pixels are too long for an int of 32 bits"
	if _, _, err := d.Header(wide(1<<29, 1, png.Grey, false, 0, 1<<17)); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
