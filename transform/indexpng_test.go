package transform

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paletted is a PNG file of w×h pixels with n colours, as the standard library writes it,
// and its numbers.
func palettedPNG(t testing.TB, w, h, n int) (file, numbers []byte) {
	t.Helper()
	palette := make(color.Palette, n)
	for i := range palette {
		palette[i] = color.NRGBA{uint8(i), uint8(255 - i), 7, 255}
	}
	m := image.NewPaletted(image.Rect(0, 0, w, h), palette)
	for i := range m.Pix {
		m.Pix[i] = uint8((i/w*i%w + i%7 + i/50) % n)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m.Pix
}

func TestMaskFilesKeepTheirNumbers(t *testing.T) {
	var p indexPNG
	for _, n := range []int{2, 3, 4, 9, 16, 17, 100, 256} { // 1, 2, 4 and 8 bits
		for _, size := range []image.Point{{1, 1}, {7, 3}, {64, 33}, {301, 200}} {
			file, want := palettedPNG(t, size.X, size.Y, n)
			w, h, err := p.header(file, false)
			if err != nil || w != size.X || h != size.Y {
				t.Fatalf("%v: %d×%d, %v", size, w, h, err)
			}
			got := make([]byte, w*h)
			for _, rows := range []int{0, 1, (h + 1) / 2, h, 1} {
				if err := p.decode(got, rows); err != nil || !bytes.Equal(got[:w*rows], want[:w*rows]) {
					t.Errorf("%v with %d colours: other numbers in %d rows (%v)", size, n, rows, err)
				}
			}
		}
	}
}

// TestMaskFilesHaveTheNumbersOfPillow reads the files that testdata/annotations/png.py has
// written: all depths, filters and interlacing.
func TestMaskFilesHaveTheNumbersOfPillow(t *testing.T) {
	files, err := filepath.Glob("testdata/annotations/*.png")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	var p indexPNG
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(name, ".png") + ".raw")
		if err != nil {
			t.Fatal(err)
		}
		w, h, err := p.header(data, strings.HasPrefix(filepath.Base(name), "ids"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := make([]byte, w*h*p.size())
		if err := p.decode(got, h); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other numbers than numpy.asarray(PIL.Image.open(…)) (%v)", name, err)
		}
	}
}

func TestMaskFilesThatAreNoMasksAreErrors(t *testing.T) {
	good, _ := palettedPNG(t, 40, 30, 9)
	header := func(change func(ihdr []byte)) []byte {
		b := slices.Clone(good)
		change(b[16:29])
		binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
		return b
	}
	for want, data := range map[string][]byte{
		"the file is empty":          {},
		"a JPEG file: want PNG":      []byte("\xff\xd8\xff\xe0"),
		"does not begin with":        good[:20],
		"a checksum is wrong":        append(slices.Clone(good[:20]), append([]byte{9}, good[21:]...)...),
		"in colour":                  header(func(b []byte) { b[9] = 2 }),
		"PNG: 16 bits per pixel":     header(func(b []byte) { b[8], b[9] = 16, 3 }),
		"3 bits per pixel":           header(func(b []byte) { b[8] = 3 }),
		"the header is damaged":      header(func(b []byte) { b[0] = 0x80 }),
		"are too few for 5000×60000": header(func(b []byte) { binary.BigEndian.PutUint64(b, 5000<<32|60000) }),
	} {
		if _, _, err := new(indexPNG).header(data, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func FuzzMaskFiles(f *testing.F) {
	for _, n := range []int{2, 9, 200} {
		file, _ := palettedPNG(f, 23, 11, n)
		f.Add(file, false)
	}
	files, _ := filepath.Glob("testdata/annotations/*.png")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(data, strings.HasPrefix(filepath.Base(name), "ids"))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, ids bool) {
		var p indexPNG
		w, h, err := p.header(data, ids)
		if err != nil || w*h > 1<<20 {
			return
		}
		n := w * p.size()
		whole, part := make([]byte, n*h, n*h+16), make([]byte, n*((h+1)/2), n*h+16)
		errWhole := p.decode(whole, h)
		p.header(data, ids)
		errPart := p.decode(part, (h+1)/2)
		if errWhole == nil && (errPart != nil || !bytes.Equal(part, whole[:len(part)])) {
			t.Fatalf("the upper half differs from the whole (%v)", errPart)
		}
		m, err := png.Decode(bytes.NewReader(data))
		if paletted, ok := m.(*image.Paletted); ok && err == nil && errWhole == nil && !bytes.Equal(paletted.Pix, whole) {
			t.Fatal("other numbers than the standard library's")
		}
		if err == nil && errWhole != nil {
			t.Fatalf("%v, which the standard library reads", errWhole)
		}
	})
}
