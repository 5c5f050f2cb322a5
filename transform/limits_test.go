package transform

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/transform/internal/source"
)

// promise sets the size in the headers of a testdata file of 19×13 pixels. WebP
// has 14 bits for a side, GIF 16.
func promise(t *testing.T, name string, w, h int) []byte {
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "lossy.webp":
		binary.LittleEndian.PutUint16(data[26:], uint16(w))
		binary.LittleEndian.PutUint16(data[28:], uint16(h))
	case "palette.gif":
		frame := bytes.Index(data, []byte{0x2c, 0, 0, 0, 0, 19, 0, 13, 0})
		for _, at := range []int{6, frame + 5} {
			binary.LittleEndian.PutUint16(data[at:], uint16(w))
			binary.LittleEndian.PutUint16(data[at+2:], uint16(h))
		}
	case "rgb.png":
		binary.BigEndian.PutUint32(data[16:], uint32(w))
		binary.BigEndian.PutUint32(data[20:], uint32(h))
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	case "rgb.jpg":
		at := bytes.Index(data, []byte{0xff, 0xc0}) + 5
		binary.BigEndian.PutUint16(data[at:], uint16(h))
		binary.BigEndian.PutUint16(data[at+2:], uint16(w))
	case "rgb.bmp":
		binary.LittleEndian.PutUint32(data[18:], uint32(w))
		binary.LittleEndian.PutUint32(data[22:], uint32(h))
	case "lzw.tiff":
		for tag, v := range map[byte]int{0x00: w, 0x01: h} { // ImageWidth, ImageLength
			at := bytes.Index(data[8:], []byte{tag, 1, 3, 0, 1, 0, 0, 0}) + 8
			binary.LittleEndian.PutUint16(data[at+8:], uint16(v))
		}
	}
	return data
}

func TestSmallFilesCannotPromiseManyPixels(t *testing.T) {
	for _, name := range []string{"rgb.png", "lossy.webp", "palette.gif", "rgb.bmp", "lzw.tiff"} {
		if err := place(t, promise(t, name, 19, 13)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		data := promise(t, name, 12000, 12000)
		for _, more := range [][]Item{nil, {MaxPixels(12000 * 12000)}} {
			var err error
			grown := allocatedBy(func() { err = place(t, data, more...) })
			if err == nil || !strings.Contains(err.Error(), "too few") || strings.Contains(err.Error(), "MaxPixels") {
				t.Errorf("%s: error %v, want too few bytes", name, err)
			}
			if grown > 1<<20 {
				t.Errorf("%s: %d bytes allocated for an error", name, grown)
			}
		}
	}
}

func TestMaxPixelsIsTheOnlyLimitOfFilesThatAreLongEnough(t *testing.T) {
	const w, h = 16000, 16000
	for _, name := range []string{"rgb.jpg", "rgb.png", "lossy.webp", "palette.gif"} {
		data := append(promise(t, name, w, h), make([]byte, w*h/256)...)
		if name == "lossy.webp" { // the frame's chunk ends the file
			binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
			binary.LittleEndian.PutUint32(data[16:], uint32(len(data)-20))
		}
		f := source.Files{Limit: source.DefaultMaxPixels}
		if _, _, err := f.Open(source.Encoded{Data: data}); err == nil || !strings.Contains(err.Error(), "MaxPixels") {
			t.Errorf("%s: error %v, want the limit by its name", name, err)
		}
		f.Limit = w * h
		if _, _, err := f.Open(source.Encoded{Data: data}); err != nil {
			t.Errorf("%s: %v, though MaxPixels allows it", name, err)
		}
	}
}

// plain are valid files of 4000×4000 pixels or more in few bytes.
func plain(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	m := image.NewPaletted(image.Rect(0, 0, 4000, 4000), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	files["PNG"] = bytes.Clone(b.Bytes())
	b.Reset()
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	files["GIF"] = bytes.Clone(b.Bytes())
	b.Reset()
	frame := &gif.GIF{
		Image:  []*image.Paletted{image.NewPaletted(image.Rect(0, 0, 1, 1), m.Palette)},
		Delay:  []int{0},
		Config: image.Config{ColorModel: m.Palette, Width: 4000, Height: 4000},
	}
	if err := gif.EncodeAll(&b, frame); err != nil {
		t.Fatal(err)
	}
	files["background of a GIF"] = bytes.Clone(b.Bytes())

	webp, err := os.ReadFile("testdata/plain.webp") // Pillow: Image.new, lossless=True
	if err != nil {
		t.Fatal(err)
	}
	files["lossless WebP"] = webp
	if files["lossy WebP"], err = os.ReadFile("testdata/plainlossy.webp"); err != nil { // Pillow: Image.new, quality=0
		t.Fatal(err)
	}

	// ITU-T T.6: every row is V(0), a bit of 1. A wide TIFF of one strip.
	const w, h = 20000, 1600
	fields := [][3]uint32{{256, 4, w}, {257, 4, h}, {258, 3, 1}, {259, 3, 4}, {262, 3, 0}, {273, 4, 8 + 2 + 8*12 + 4}, {278, 4, h}, {279, 4, h/8 + 3}}
	tiff := append([]byte("II*\x00\x08\x00\x00\x00"), byte(len(fields)), 0)
	for _, f := range fields {
		tiff = binary.LittleEndian.AppendUint16(tiff, uint16(f[0]))
		tiff = binary.LittleEndian.AppendUint16(tiff, uint16(f[1]))
		tiff = binary.LittleEndian.AppendUint32(tiff, 1)
		tiff = binary.LittleEndian.AppendUint32(tiff, f[2])
	}
	tiff = append(append(tiff, 0, 0, 0, 0), bytes.Repeat([]byte{0xff}, h/8)...)
	files["group 4 TIFF"] = append(tiff, 0, 0x10, 0x01)
	return files
}

func TestPlainImagesMayBeLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("images of 16 million pixels take a second")
	}
	for name, data := range plain(t) {
		if err := place(t, data); err != nil {
			t.Errorf("%s of %d bytes: %v", name, len(data), err)
		}
		err := place(t, data, MaxPixels(4000*4000-1))
		if err == nil || !strings.Contains(err.Error(), "(see MaxPixels)") {
			t.Errorf("%s: error %v, want the limit", name, err)
		}
	}
}

// A black is an image of that size, which has no memory.
type black image.Point

func (b black) Bounds() image.Rectangle { return image.Rectangle{Max: image.Point(b)} }
func (black) ColorModel() color.Model   { return color.GrayModel }
func (black) At(_, _ int) color.Color   { return color.Gray{} }

// TestTheWeightsOfAResizeAreNotMoreThanTheLargestImage has images of one row, of one column, and of as many pixels as there may be.
func TestTheWeightsOfAResizeAreNotMoreThanTheLargestImage(t *testing.T) {
	const n = 20_000_000
	for _, list := range [][]Item{
		{Resize([2]int{224, 224})},
		{Resize(224, Interpolation(Lanczos)), CenterCrop(224)},
		{Resize([2]int{224, 1}, Interpolation(OpenCVArea))},
		{Depth16(3), Resize([2]int{224, 224}, Interpolation(Bicubic))},
	} {
		for _, m := range []black{{n, 1}, {1, n}} {
			var err error
			c := compiled(t, append(list, MaxPixels(n))...)
			dst := make([]byte, c.Spec()[0].Bytes())
			grown := allocatedBy(func() { err = c.IntoBytes(dst, Decoded(m)) })
			if err == nil || !strings.HasPrefix(err.Error(), "transform: ") {
				t.Errorf("%v: %v: got %v, want an error", list, m, err)
			}
			if grown > 2<<20 {
				t.Errorf("%v: %v: %d bytes allocated for the error %v", list, m, grown, err)
			}
		}
	}
}

// TestMaxPixelsCountsWhatIsBetween has images that would have too many pixels, or values of Depth16, between the passes of a
// resize, or as a result.
func TestMaxPixelsCountsWhatIsBetween(t *testing.T) {
	three := func(_, _ int) []Tile { return make([]Tile, 3) }
	high, alpha := image.NewGray16(image.Rect(0, 0, 1, 50_000)), image.NewNRGBA64(image.Rect(0, 0, 10, 10))
	for _, c := range []struct {
		m     image.Image
		limit int
		list  []Item
	}{
		{high, 10_000_000, []Item{Depth16(1), Resize([2]int{200, 200})}},
		{alpha, 10_000, []Item{Depth16(4), Resize([2]int{50, 50})}},
		{alpha, 10_000, []Item{Depth16(4), Pad(20)}},
		{alpha, 1_200, []Item{Depth16(4), Tiles(10, "three", three)}},
		{black{10, 900}, 1_800_000, []Item{Resize([2]int{5, 2000})}},
	} {
		into := func(limit int) error {
			_, _, _, err := compiled(t, append(c.list[:len(c.list):len(c.list)], ToTensor(), MaxPixels(limit), Ragged())...).Append(nil, Decoded(c.m))
			return err
		}
		if err := into(c.limit); err != nil {
			t.Errorf("%v: %v", c.list, err)
		}
		if err := into(c.limit - 1); err == nil || !strings.Contains(err.Error(), "see MaxPixels") {
			t.Errorf("%v: got %v, want an error of MaxPixels", c.list, err)
		}
	}
}
