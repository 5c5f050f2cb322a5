package png_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	stdpng "image/png"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/png"
	"github.com/penstock-go/penstock/internal/hostile"
)

// decodes is the error of the header or of the whole image.
func decodes(d *png.Decoder, data []byte) error {
	w, h, err := d.Header(data)
	if err != nil || w > 1<<20/h {
		return err
	}
	return d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h))
}

func TestFilesThatEndEarlyAreErrors(t *testing.T) {
	var d png.Decoder
	for _, f := range []file{{9, 7, 8, 2, false, true, 3}, {9, 7, 4, 3, true, true, 3}} {
		data := f.bytes()
		for n := range data {
			if _, _, err := d.Header(data[:n]); err == nil {
				t.Errorf("%v: no error for %d of %d bytes", f, n, len(data))
			}
		}
	}
}

// TestDamagedFilesAreErrorsAsInTheStandardLibrary changes every byte.
func TestDamagedFilesAreErrorsAsInTheStandardLibrary(t *testing.T) {
	var d png.Decoder
	for _, f := range []file{{9, 7, 8, 2, false, true, 3}, {9, 7, 4, 3, true, true, 3}, {5, 4, 16, 6, false, false, 1}, {9, 7, 2, 0, true, true, 2}} {
		good := f.bytes()
		for i := range good {
			for _, flip := range []byte{1, 0x20, 0x80, 0xff} {
				data := slices.Clone(good)
				data[i] ^= flip
				compare(t, &d, data)
			}
		}
	}
}

// TestDamageInValidChunksIsAnErrorAsInTheStandardLibrary changes every byte of the chunks and
// corrects their checksums.
func TestDamageInValidChunksIsAnErrorAsInTheStandardLibrary(t *testing.T) {
	var d png.Decoder
	for _, f := range []file{{9, 7, 8, 2, false, true, 3}, {9, 7, 4, 3, true, true, 3}, {5, 4, 16, 0, false, true, 1}, {5, 4, 1, 3, false, true, 1}} {
		good := f.bytes()
		for i := len(png.Signature); i < len(good); i++ {
			for _, flip := range []byte{1, 2, 4, 8, 0x20, 0x80, 0xff} {
				data := slices.Clone(good)
				data[i] ^= flip
				mend(data)
				compare(t, &d, data)
			}
		}
	}
}

// mend corrects the checksums of all chunks.
func mend(data []byte) {
	for at := len(png.Signature); at+12 <= len(data); {
		n := uint64(binary.BigEndian.Uint32(data[at:]))
		if n > uint64(len(data)-at-12) {
			return
		}
		end := at + 8 + int(n)
		binary.BigEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[at+4:end]))
		at = end + 4
	}
}

// compare checks that the standard library reads a file if the Decoder does, with the same pixels, but
// for the differences that the package names.
func compare(t *testing.T, d *png.Decoder, data []byte) {
	t.Helper()
	if c, err := stdpng.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width > 1<<20/c.Height {
		return
	}
	m, want := stdpng.Decode(bytes.NewReader(data))
	got := decodes(d, data)
	switch {
	case want == nil && got != nil:
		t.Fatalf("%v, which the standard library reads", got)
	case want == nil:
		checkPixels(t, d, data, m)
	case got == nil && strings.Contains(want.Error(), "too much pixel data"):
	case got == nil:
		if _, err := stdpng.Decode(bytes.NewReader(ended(data))); err != nil && !strings.Contains(err.Error(), "too much pixel data") {
			t.Fatalf("no error, but in the standard library %v", err)
		}
	}
}

// bounded checks what decoding takes beside the pixels. Its memory is that of two rows of at most 8
// bytes per pixel with a quarter more, and a row of pixels.
func bounded(t *testing.T, data []byte) {
	const most, rowMemory = 1 << 18, 2*8*5/4 + 4
	w, h, err := new(png.Decoder).Header(data)
	if err != nil || w > most/h {
		return
	}
	hostile.Bounded(t, len(data), int64(4*w*h+rowMemory*w), func() {
		var d png.Decoder
		if _, _, err := d.Header(data); err == nil {
			_ = d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h))
		}
	})
}

// ended is a file without the chunks after the image data.
func ended(data []byte) []byte {
	begun := false
	for at := len(png.Signature); at+12 <= len(data); {
		name := string(data[at+4 : at+8])
		if begun && name != "IDAT" {
			return append(slices.Clone(data[:at]), chunk("IEND", nil)...)
		}
		begun = name == "IDAT"
		at += 12 + int(binary.BigEndian.Uint32(data[at:]))
	}
	return data
}

func TestWrongCallsAreErrors(t *testing.T) {
	var d png.Decoder
	if err := d.Decode(nil, 0, image.Rect(0, 0, 1, 1)); err == nil || err.Error() != "png: decode: no header has been read" {
		t.Errorf("got %v", err)
	}
	if _, _, err := d.Header(file{9, 7, 8, 2, false, false, 3}.bytes()); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"png: decode: destination is too small for the window":             d.Decode(make([]byte, 9), 36, image.Rect(0, 0, 9, 7)),
		"png: decode: window (0,0)-(10,7) exceeds the image's 9×7":         d.Decode(nil, 40, image.Rect(0, 0, 10, 7)),
		"png: decode: window (0,0)-(9,8) exceeds the image's 9×7":          d.DecodeNumbers(nil, 8),
		"png: decode: destination is too small for the window ":            fmt.Errorf("%w ", d.DecodeSamples(nil, image.Rect(0, 0, 1, 1))),
		"png: unexpected EOF: 45 bytes are too few for 60000×60000 pixels": headerOf(60000, 60000, 8, png.RGB),
		// 2⁶⁴ + 18794 bytes of rows:
		"png: unexpected EOF: 45 bytes are too few for 1074056383×2146854714 pixels": headerOf(1074056383, 2146854714, 16, png.RGBAlpha),
		"png: 2147483688×30 pixels, but a side has 1 to 2147483647":                  headerOf(2147483688, 30, 8, png.RGB),
		"png: 30×0 pixels, but a side has 1 to 2147483647":                           headerOf(30, 0, 8, png.RGB),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// head is the beginning of a file that is not interlaced.
func head(w, h uint32, depth byte, colour png.Colour) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte(png.Signature), chunk("IHDR", append(size, depth, byte(colour), 0, 0, 0))...)
}

// headerOf is the error of a file that has nothing but a header.
func headerOf(w, h uint32, depth byte, colour png.Colour) error {
	_, _, err := new(png.Decoder).Header(append(head(w, h, depth, colour), chunk("IEND", nil)...))
	return err
}
