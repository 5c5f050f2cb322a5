package tiff_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"strings"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFilesBecomePillowsRGB(t *testing.T)  { pillowtest.Equal(t, withZstd(tiff.Decoder{})) }
func TestWindowsAreCrops(t *testing.T)        { pillowtest.Windows(t, withZstd(tiff.Decoder{})) }
func TestImagesTakeNoAllocation(t *testing.T) { pillowtest.Still(t, withZstd(tiff.Decoder{}), "fax") }

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	pillowtest.Cut(t, withZstd(tiff.Decoder{}), func(string) bool { return true })
}

// chunkPixels is the MaxPixels of fuzz targets. A pixel of a strip or tile has six samples of 4 bytes
// at most, or four coefficients of 2 bytes and what finds them.
const chunkPixels, pixelMemory = 1 << 18, 6*4 + 4*5/2

func FuzzDecode(f *testing.F) {
	open := func() pillowtest.Decoder { return withZstd(tiff.Decoder{MaxPixels: chunkPixels}) }
	pillowtest.Fuzz(f, open, func(int, int) int { return chunkPixels * pixelMemory })
}

// A field is a tag and its value.
type field struct{ tag, value uint32 }

// file is a file of 8×8 grey pixels of 8 bits, with these fields added or changed.
func file(pixels int, fields ...field) []byte {
	byDefault := []field{{256, 8}, {257, 8}, {258, 8}, {259, 1}, {262, 1}, {273, 8}, {277, 1}, {278, 8}, {279, uint32(pixels)}}
	data := append([]byte("II*\x00\x00\x00\x00\x00"), make([]byte, pixels)...)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)))
	all := map[uint32]uint32{}
	for _, f := range append(byDefault, fields...) {
		all[f.tag] = f.value
	}
	data = binary.LittleEndian.AppendUint16(data, uint16(len(all)))
	for tag, value := range all {
		data = binary.LittleEndian.AppendUint16(data, uint16(tag))
		data = binary.LittleEndian.AppendUint16(data, 4)
		data = binary.LittleEndian.AppendUint32(data, 1)
		data = binary.LittleEndian.AppendUint32(data, value)
	}
	return append(data, 0, 0, 0, 0)
}

// renamed changes the tag and the number of values of a file's field.
func renamed(data []byte, from, to uint16, values uint32) []byte {
	entry := data[bytes.Index(data, []byte{byte(from), byte(from >> 8), 4, 0, 1, 0, 0, 0}):]
	binary.LittleEndian.PutUint16(entry, to)
	binary.LittleEndian.PutUint32(entry[4:], values)
	return data
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		file        []byte
		want        string
		unsupported bool
	}{
		{[]byte("II*\x00"), "header: unexpected EOF", false},
		{[]byte("II*\x00\xff\x00\x00\x00"), "directory begins at byte 255 of 8", false},
		{[]byte("II*\x00\x08\x00\x00\x00\x02\x00"), "directory ends after 0 of 2 fields", false},
		{file(64, field{256, 0}), "0×8 pixels", false},
		{file(64, field{259, 34712}), "TIFF with compression 34712, which penstock does not read", true},
		{file(64, field{259, 6}), "TIFF with compression 6, which penstock does not read", true},
		{file(64, field{259, 12345}), "TIFF with compression 12345, which penstock does not read", true},
		{file(64, field{259, 2}), "TIFF with compression 2, which penstock does not read", true},
		{file(64, field{258, 1}, field{259, 3}, field{292, 1}), "TIFF with compression 3 (fax) of two dimensions, which penstock does not read", true},
		{file(64, field{262, 6}, field{259, 5}), "TIFF with YCbCr without JPEG compression, which penstock does not read", true},
		{file(64, field{262, 5}, field{277, 4}), "TIFF with colours of inks (CMYK), which", true},
		{file(64, field{266, 2}), "TIFF with fill order 2, which", true},
		{file(64, field{258, 12}), "TIFF with photometric interpretation 1, 1 samples of [12] bits", true},
		{file(64, field{262, 8}), "TIFF with photometric interpretation 8", true},
		{file(64, field{258, 7}), "TIFF with photometric interpretation 1, 1 samples of [7] bits", true},
		{file(64, field{277, 9}), "TIFF with 9 samples per pixel", true},
		{file(64, field{259, 5}, field{317, 9}), "TIFF with predictor 9 of samples of 8 bits", true},
		{file(64, field{259, 4}), "TIFF with compression 4 (fax) of 1 samples of 8 bits", true},
		{file(64, field{266, 3}), "fill order 3", true},
		{file(64, field{284, 3}), "planar configuration 3", false},
		{file(64, field{278, 0}), "strips of 8×0 pixels", false},
		{file(64, field{278, 4}), "unexpected EOF: 1 strips are too few for 8×8 pixels", false},
		{file(64, field{322, 16}, field{323, 0}), "tiles of 16×0 pixels", false},
		{file(64, field{273, 0}), "strip 0: 64 bytes at byte 0", false},
		{file(64, field{273, 999}), "strip 0: 64 bytes at byte 999", false},
		{renamed(file(64, field{259, 5}, field{273, 999}), 279, 65000, 1), "strip 0: 0 bytes at byte 999", false},
		{renamed(file(64), 278, 279, 1), "field 279 occurs twice", false},
		{renamed(file(64), 278, 282, 99), "the values of field 282 are beyond the end of the file: unexpected EOF", false},
		{renamed(file(64), 277, 277, 2), "field 277 has 2 values, not one", false},
		{file(64, field{259, 5}, field{279, 999}), "strip 0: 999 bytes at byte 8", false},
		{file(2, field{259, 32773}, field{256, 80}), "unexpected EOF: 2 bytes are too few for 80×8 pixels", false},
		{file(64, field{262, 3}), "palette of 0 values", false},
		{file(64, field{259, 5}), "decode: strip at (0, 0): too few bytes after decompression", false},
		{file(64, field{259, 8}), "decode: strip at (0, 0): zlib: invalid header", false},
		{file(64, field{259, 7}), "decode: strip at (0, 0): jpeg: at byte 0", false},
	} {
		var d tiff.Decoder
		w, h, err := d.Header(test.file)
		if err == nil {
			err = d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h))
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "tiff: ") {
			t.Errorf("got %v, want %q", err, test.want)
			continue
		}
		if got := errors.Is(err, errors.ErrUnsupported); got != test.unsupported {
			t.Errorf("%v: unsupported is %v, want %v", err, got, test.unsupported)
		}
	}
}

// little is the memory of a new Decoder and of a small file.
const little = uint64(unsafe.Sizeof(tiff.Decoder{})) + 1<<16

func TestPromisesTakeNoMemory(t *testing.T) {
	for _, compression := range []uint32{1, 3, 4, 5, 7, 8, 32773, 32946, 50000} {
		bits := uint32(8)
		if compression == 3 || compression == 4 {
			bits = 1
		}
		size := []field{{256, 12000}, {257, 12000}, {278, 12000}, {258, bits}, {259, compression}}
		for _, more := range [][]field{nil, {{322, 1 << 20}, {323, 1 << 20}}, {{256, 8}, {257, 8}, {322, 8000}, {323, 8000}}} {
			data := file(99, append(size, more...)...)
			var w, h int
			var err error
			used := allocs.Bytes(little, func() {
				d := withZstd(tiff.Decoder{}) // a used one has its memory already
				w, h, err = d.Header(data)
				if err == nil && w*h == 64 {
					err = d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h))
				}
			})
			if err == nil {
				t.Errorf("compression %d: %d bytes give %d×%d pixels", compression, len(data), w, h)
			}
			if used > little {
				t.Errorf("compression %d: %d bytes allocated: %v", compression, used, err)
			}
		}
	}
}
