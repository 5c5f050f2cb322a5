package jpeg_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

// An entry is a directory's entry: tag, type, count and 4 bytes.
type entry struct {
	tag, kind uint16
	count     uint32
	value     [4]byte
}

// directory is big-endian Exif data.
func directory(entries ...entry) []byte {
	data := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08")
	data = binary.BigEndian.AppendUint16(data, uint16(len(entries)))
	for _, e := range entries {
		data = binary.BigEndian.AppendUint16(data, e.tag)
		data = binary.BigEndian.AppendUint16(data, e.kind)
		data = binary.BigEndian.AppendUint32(data, e.count)
		data = append(data, e.value[:]...)
	}
	return append(data, 0, 0, 0, 0)
}

// TestOrientationIsPillows compares with exif_transpose of Pillow 12.3 for these data
// in a PNG file.
func TestOrientationIsPillows(t *testing.T) {
	testenv.OneGoroutine(t)
	six := entry{0x112, 3, 1, [4]byte{0, 6}}
	attribute, element := []byte(`<x tiff:Orientation="8" />`), []byte("<tiff:Orientation>5</tiff:Orientation>")
	little := slices.Concat([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"))
	for name, c := range map[string]struct {
		exif, xmp []byte
		want      int
	}{
		"nothing":                      {nil, nil, 0},
		"SHORT":                        {directory(six), nil, 6},
		"SHORT, little-endian":         {little, nil, 6},
		"LONG":                         {directory(entry{0x112, 4, 1, [4]byte{0, 0, 0, 6}}), nil, 6},
		"SBYTE":                        {directory(entry{0x112, 6, 1, [4]byte{6}}), nil, 6},
		"SSHORT":                       {directory(entry{0x112, 8, 1, [4]byte{0, 6}}), nil, 6},
		"SLONG":                        {directory(entry{0x112, 9, 1, [4]byte{0, 0, 0, 6}}), nil, 6},
		"IFD":                          {directory(entry{0x112, 13, 1, [4]byte{0, 0, 0, 6}}), nil, 6},
		"FLOAT":                        {directory(entry{0x112, 11, 1, [4]byte{0x40, 0xc0}}), nil, 6},
		"BYTE":                         {directory(entry{0x112, 1, 1, [4]byte{6}}), attribute, 0},
		"unknown type":                 {directory(entry{0x112, 14, 1, [4]byte{0, 0, 0, 6}}), attribute, 8},
		"two values":                   {directory(entry{0x112, 3, 2, [4]byte{0, 6, 0, 1}}), nil, 6},
		"no value":                     {directory(entry{0x112, 3, 0, [4]byte{0, 6}}), attribute, 8},
		"9":                            {directory(entry{0x112, 3, 1, [4]byte{0, 9}}), attribute, 0},
		"the last of two":              {directory(entry{0x112, 3, 1, [4]byte{0, 3}}, six), nil, 6},
		"after a tag beyond the data":  {directory(entry{0x111, 4, 9, [4]byte{1}}, six), attribute, 8},
		"before a tag beyond the data": {directory(six, entry{0x111, 4, 9, [4]byte{1}}), attribute, 6},
		"directory cut short":          {directory(six, six)[:6+8+2+12+5], nil, 6},
		"no directory":                 {directory()[:14], attribute, 8},
		"Exif twice":                   {slices.Concat([]byte("Exif\x00\x00"), directory(six)), nil, 6},
		"XMP attribute":                {nil, attribute, 8},
		"XMP element":                  {nil, element, 5},
		"XMP besides Exif":             {directory(six), attribute, 6},
		"XMP of another form":          {nil, slices.Concat([]byte("tiff:Orientation = 6 "), element), 5},
		"XMP of nothing":               {nil, []byte(`tiff:Orientation="`), 0},
	} {
		if got := jpeg.Orientation(c.exif, c.xmp); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// FuzzOrientation looks for data that panic.
// TestManyPartsThatSayLittleTakeLittle has as many entries as a directory may have, and many names
// without values.
func TestManyPartsThatSayLittleTakeLittle(t *testing.T) {
	all := slices.Repeat([]entry{{0x112, 6, 1 << 18, [4]byte{0, 0, 0, 8}}}, 1<<16-1)
	for name, c := range map[string][2][]byte{
		"entries of the whole data": {directory(all...), nil},
		"Exif":                      {bytes.Repeat([]byte("Exif\x00\x00"), 1<<16), nil},
		"names":                     {nil, bytes.Repeat([]byte("tiff:Orientation"), 1<<14)},
		"nearly names":              {nil, bytes.Repeat([]byte("tiff:Orientatio"), 1<<14)},
	} {
		hostile.Bounded(t, len(c[0])+len(c[1]), 0, func() {
			if got := jpeg.Orientation(c[0], c[1]); got != 0 {
				t.Errorf("%s: got %d", name, got)
			}
		})
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(directory(entry{0x112, 3, 1, [4]byte{0, 6}}, entry{0x100, 5, 1, [4]byte{0, 0, 0, 8}}), []byte(`tiff:Orientation="8"`))
	f.Fuzz(func(t *testing.T, data, packet []byte) {
		hostile.Bounded(t, len(data)+len(packet), 0, func() {
			if got := jpeg.Orientation(data, packet); got < 0 || got > 8 {
				t.Errorf("got %d", got)
			}
		})
	})
}
