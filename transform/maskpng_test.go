package transform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/source"
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
	var f source.Mask
	for _, n := range []int{2, 3, 4, 9, 16, 17, 100, 256} { // 1, 2, 4 and 8 bits
		for _, size := range []image.Point{{1, 1}, {7, 3}, {64, 33}, {301, 200}} {
			file, want := palettedPNG(t, size.X, size.Y, n)
			for _, rows := range []int{0, 1, (size.Y + 1) / 2, size.Y, 1} {
				if err := f.Open(file, false, 1<<20); err != nil || f.W != size.X || f.H != size.Y {
					t.Fatalf("%v: %d×%d, %v", size, f.W, f.H, err)
				}
				if got, err := f.First(rows); err != nil || !bytes.Equal(got[:f.W*rows], want[:f.W*rows]) {
					t.Errorf("%v with %d colours: other numbers in %d rows (%v)", size, n, rows, err)
				}
			}
		}
	}
}

// TestMaskFilesHaveTheNumbersOfPillow reads the files that testdata/annotations/png.py has
// written: all depths, filters and interlacing.
func TestMaskFilesHaveTheNumbersOfPillow(t *testing.T) {
	testenv.OneGoroutine(t)
	files, err := filepath.Glob("testdata/annotations/*.png")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	var f source.Mask
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(name, ".png") + ".raw")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Open(data, strings.HasPrefix(filepath.Base(name), "ids"), 1<<20); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := f.First(f.H); err != nil || !bytes.Equal(got, want) {
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
		"the file is empty":                      {},
		"a JPEG file: want PNG":                  []byte("\xff\xd8\xff\xe0"),
		"PNG: png: unexpected EOF":               good[:20],
		"a checksum is wrong":                    append(slices.Clone(good[:20]), append([]byte{9}, good[21:]...)...),
		"PNG: in colour, want a palette or grey": header(func(b []byte) { b[8], b[9] = 8, 2 }),
		"16 bits per sample with colour type 3":  header(func(b []byte) { b[8], b[9] = 16, 3 }),
		"3 bits per sample":                      header(func(b []byte) { b[8] = 3 }),
		"2147483688×30 pixels":                   header(func(b []byte) { b[0] = 0x80 }),
		"are too few for 5000×60000":             header(func(b []byte) { binary.BigEndian.PutUint64(b, 5000<<32|60000) }),
	} {
		if err := new(source.Mask).Open(data, false, 1<<20); err == nil || !strings.Contains(err.Error(), want) {
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
	others, sums := maskFormats(f)
	for name, data := range others {
		if sums[name] != "" {
			f.Add(data, false)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, ids bool) {
		m, errPNG := png.Decode(bytes.NewReader(data))
		const most, pixelMemory = 1 << 18, 64
		f := new(source.Mask)
		if f.Open(data, ids, most) != nil || f.W > most/f.H {
			return
		}
		hostile.Bounded(t, len(data), int64(pixelMemory*f.W*f.H), func() {
			one := new(source.Mask)
			if one.Open(data, ids, most) == nil {
				_, _ = one.First(one.H)
			}
		})
		whole, err := f.First(f.H)
		cputest.Portable(func() {
			one := new(source.Mask)
			if wrong := one.Open(data, ids, most); wrong != nil {
				t.Fatal(wrong)
			}
			if portable, wrong := one.First(one.H); fmt.Sprint(wrong) != fmt.Sprint(err) || !bytes.Equal(portable, whole) {
				t.Errorf("error %v, but %v without kernels, or other numbers", err, wrong)
			}
		})
		if f.Format == "PNG" && errPNG == nil && err != nil {
			t.Fatalf("%v, which the standard library reads", err)
		}
		if err != nil {
			return
		}
		if paletted, ok := m.(*image.Paletted); ok && errPNG == nil && f.Format == "PNG" && !bytes.Equal(paletted.Pix, whole) {
			t.Fatal("other numbers than the standard library's")
		}
		part, rows := new(source.Mask), (f.H+1)/2
		if err := part.Open(data, ids, most); err != nil {
			t.Fatal(err)
		}
		upper, err := part.First(rows)
		if n := f.Size() * f.W * rows; err != nil || !bytes.Equal(upper[:n], whole[:n]) {
			t.Fatalf("the upper half differs from the whole (%v)", err)
		}
	})
}
