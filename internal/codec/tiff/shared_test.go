package tiff_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	stdjpeg "image/jpeg"
	"testing"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/hostile"
)

// sharing is a file of 1024×1024 grey pixels whose tiles of tile×tile pixels all have the same
// bytes. Those of a fax are black and white.
func sharing(tile, compression uint32, stream []byte) []byte {
	const side = 1024
	bits := uint32(8)
	if compression == 4 {
		bits = 1
	}
	n := side / tile * (side / tile)
	fields := []field{{256, side}, {257, side}, {258, bits}, {259, compression}, {262, 1}, {277, 1}, {322, tile}, {323, tile}, {324, 0}, {325, 0}}
	le := binary.LittleEndian
	data := []byte("II*\x00\x08\x00\x00\x00")
	data = le.AppendUint16(data, uint16(len(fields)))
	lists := uint32(len(data) + 12*len(fields) + 4)
	for _, f := range fields {
		count := uint32(1)
		if f.tag >= 324 {
			count, f.value = uint32(n), lists+(f.tag-324)*uint32(4*n)
		}
		data = le.AppendUint16(data, uint16(f.tag))
		data = le.AppendUint16(data, 4)
		data = le.AppendUint32(data, count)
		data = le.AppendUint32(data, f.value)
	}
	data = le.AppendUint32(data, 0)
	for range n {
		data = le.AppendUint32(data, lists+uint32(8*n))
	}
	for range n {
		data = le.AppendUint32(data, uint32(len(stream)))
	}
	return append(data, stream...)
}

// ramp are samples of a tile.
func ramp(tile int) []byte {
	pix := make([]byte, tile*tile)
	for i := range pix {
		pix[i] = byte(i)
	}
	return pix
}

// jpegTile is a JPEG file of a tile that defines so many Huffman tables without using them.
func jpegTile(t *testing.T, tile, tables int) []byte {
	var file bytes.Buffer
	if err := stdjpeg.Encode(&file, &image.Gray{Pix: ramp(tile), Stride: tile, Rect: image.Rect(0, 0, tile, tile)}, nil); err != nil {
		t.Fatal(err)
	}
	table := append([]byte{0xff, 0xc4, 0, 20, 3, 1}, make([]byte, 16)...)
	start, rest := file.Bytes()[:2:2], file.Bytes()[2:]
	return append(append(start, bytes.Repeat(table, tables)...), rest...)
}

// scansTile is a progressive JPEG file of a grey tile with n scans of AC coefficients.
func scansTile(tile byte, n int) []byte {
	file := append([]byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, 0xff, 0xc2, 0, 11, 8, 0, tile, 0, tile, 1, 1, 0x11, 0)
	for _, symbol := range [][2]byte{{0, 0}, {0x10, 0x20}} { // no difference; the end of 4 blocks
		file = append(file, 0xff, 0xc4, 0, 20, symbol[0], 1)
		file = append(append(file, make([]byte, 15)...), symbol[1])
	}
	code := make([]byte, (int(tile)*int(tile)/64+7)/8)
	file = append(append(file, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0), code...)
	for range n {
		file = append(append(file, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0), code...)
	}
	return append(file, 0xff, 0xd9)
}

// deflateTile is a zlib stream of a tile after n blocks that hold tables and no bytes.
func deflateTile(tile, n int) []byte {
	var out []byte
	var acc uint64
	bits := 0
	put := func(v uint64, n int) { // the lowest bit first
		acc |= v << bits
		for bits += n; bits >= 8; bits -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
	}
	out = append(out, 0x78, 1)
	for range n {
		put(2<<1, 3)
		put(0, 5)  // 257 codes of lengths and bytes
		put(0, 5)  // 1 code of distances
		put(14, 4) // 18 codes of code lengths:
		put(0, 6)  // 16 and 17
		put(1, 3)  // 18, which is 1
		put(0, 14*3)
		put(1, 3) // 1, which is 0
		for _, zeros := range []uint64{138, 118} {
			put(1, 1)
			put(zeros-11, 7)
		}
		put(0, 1) // the end, of one bit
		put(0, 1)
		put(0, 1)
	}
	put(1, 3)
	put(0, (8-bits)%8)
	size := tile * tile
	out = append(out, byte(size), byte(size>>8), ^byte(size), ^byte(size>>8)) // bytes as they are
	return append(append(out, ramp(tile)...), 0, 0, 0, 0)
}

func deflated(pix []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(pix)
	_ = z.Close()
	return b.Bytes()
}

func all(d *tiff.Decoder, data []byte) ([]byte, error) {
	w, h, err := d.Header(data)
	if err != nil {
		return nil, err
	}
	pix := make([]byte, 4*w*h)
	return pix, d.Decode(pix, 4*w, image.Rect(0, 0, w, h))
}

func TestTilesMayShareTheirBytes(t *testing.T) {
	for name, data := range map[string][]byte{
		"tables of JPEG": sharing(64, 7, jpegTile(t, 64, 0)),
		"scans of JPEG":  sharing(64, 7, scansTile(64, 9)),
		"deflate":        sharing(64, 8, deflated(make([]byte, 64*64))),
		"runs":           sharing(16, 32773, bytes.Repeat([]byte{0x81, 5}, 2)),
		"a fax":          sharing(64, 4, bytes.Repeat([]byte{0xff}, 8)),
	} {
		var d tiff.Decoder
		hostile.Bounded(t, len(data), 4<<20, func() {
			if _, err := all(&d, data); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestSharedBytesAreReadAsOftenAsTheFileJustifies(t *testing.T) {
	for name, data := range map[string][]byte{
		"tables of JPEG":    sharing(16, 7, jpegTile(t, 16, 4000)),
		"scans of JPEG":     sharing(16, 7, scansTile(16, 500)),
		"more scans":        sharing(16, 7, scansTile(16, 9000)),
		"tables of deflate": sharing(16, 8, deflateTile(16, 300)),
		"readers of a fax":  sharing(16, 4, bytes.Repeat([]byte{0xff}, 2)),
		"more tables":       sharing(16, 8, deflateTile(16, 9000)),
	} {
		var d tiff.Decoder
		hostile.Bounded(t, len(data), 4<<20, func() {
			if _, err := all(&d, data); !errors.Is(err, budget.ErrExceeded) {
				t.Errorf("%s: error %v, want the budget's", name, err)
			}
		})
	}
}
