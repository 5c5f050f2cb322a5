package png_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	stdpng "image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/png"
)

// A file is how a generated file looks.
type file struct {
	w, h, depth, colour int
	laced, transparent  bool
	seed                uint64
}

func (f file) String() string {
	return fmt.Sprintf("%d×%d with %d bits of colour type %d, interlaced %v, transparent %v", f.w, f.h, f.depth, f.colour, f.laced, f.transparent)
}

// all are files of all colour types and depths, interlaced or not, in several sizes.
func all() (files []file) {
	for _, c := range []struct {
		colour int
		depths []int
	}{{0, []int{1, 2, 4, 8, 16}}, {2, []int{8, 16}}, {3, []int{1, 2, 4, 8}}, {4, []int{8, 16}}, {6, []int{8, 16}}} {
		for _, depth := range c.depths {
			for _, laced := range []bool{false, true} {
				for _, transparent := range []bool{false, true} {
					if transparent && c.colour > 3 {
						continue // they have alpha
					}
					for i, size := range []image.Point{{1, 1}, {2, 5}, {3, 2}, {21, 13}, {64, 40}} {
						files = append(files, file{size.X, size.Y, depth, c.colour, laced, transparent, uint64(i)})
					}
				}
			}
		}
	}
	return files
}

func chunk(name string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// bytes is a file with random filters, palette and pixels. Half of the pixels are those above,
// so that all filters see equal values. The stream is in several chunks.
func (f file) bytes() []byte {
	r := rand.New(rand.NewPCG(f.seed, uint64(100*f.colour+f.depth)))
	channels := []int{1, 0, 3, 1, 2, 0, 4}[f.colour]
	bits := channels * f.depth
	laced := byte(0)
	passes := [][4]int{{0, 0, 1, 1}}
	if f.laced {
		laced = 1
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var raw []byte
	for _, p := range passes {
		w, h := (f.w-p[0]+p[2]-1)/p[2], (f.h-p[1]+p[3]-1)/p[3]
		if w == 0 || h == 0 {
			continue
		}
		for range h {
			raw = append(raw, byte(r.IntN(5)))
			for range (w*bits + 7) / 8 {
				v := byte(r.IntN(256))
				if r.IntN(2) == 0 {
					v = 0
				}
				raw = append(raw, v)
			}
		}
	}
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	z.Write(raw)
	z.Close()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(f.w)), uint32(f.h))
	out := append([]byte(png.Signature), chunk("IHDR", append(head, byte(f.depth), byte(f.colour), 0, 0, laced))...)
	out = append(out, chunk("tEXt", []byte("a\x00b"))...)
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return b
	}
	if f.colour == 3 || f.colour == 2 && f.seed == 1 { // in colours a palette means nothing
		n := 1 + r.IntN(min(1<<f.depth, 256))
		out = append(out, chunk("PLTE", random(3*n))...)
	}
	if f.transparent {
		n := map[int]int{0: 2, 2: 6, 3: 1}[f.colour]
		out = append(out, chunk("tRNS", random(n))...)
	}
	data := stream.Bytes()
	cut := r.IntN(len(data))
	out = append(out, chunk("IDAT", data[:cut])...)
	out = append(out, chunk("IDAT", nil)...)
	out = append(out, chunk("IDAT", data[cut:])...)
	out = append(out, chunk("tIME", random(7))...)
	return append(out, chunk("IEND", nil)...)
}

// pillows is what Pillow's convert("RGB") makes of an image of the standard library's decoder.
func pillows(m image.Image, x, y int) [3]uint8 {
	grey16 := func(v uint16) [3]uint8 { return [3]uint8{uint8(min(v, 255)), uint8(min(v, 255)), uint8(min(v, 255))} }
	switch c := m.At(x, y).(type) {
	case color.Gray16:
		return grey16(c.Y)
	case color.NRGBA:
		return [3]uint8{c.R, c.G, c.B}
	case color.NRGBA64:
		return [3]uint8{uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)}
	default: // opaque
		r, g, b, _ := c.RGBA()
		return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
	}
}

// checkPixels compares a decoded file with the image of the standard library.
func checkPixels(t *testing.T, d *png.Decoder, data []byte, m image.Image) {
	t.Helper()
	w, h, err := d.Header(data)
	if err != nil || (image.Point{X: w, Y: h}) != m.Bounds().Size() {
		t.Fatalf("%d×%d pixels (%v), want %v", w, h, err, m.Bounds().Size())
	}
	pix := make([]byte, 4*w*h)
	if err := d.Decode(pix, 4*w, m.Bounds()); err != nil {
		t.Fatal(err)
	}
	n, _, _ := d.StoredSamples()
	samples := make([]float32, n*w*h)
	if err := d.DecodeSamples(samples, m.Bounds()); err != nil {
		t.Fatal(err)
	}
	_, wide := m.(*image.NRGBA64)
	grey16 := wide && d.Colour() == png.Grey // the standard library's type for those with a transparent value
	for i := range w * h {
		x, y := i%w, i/w
		want := pillows(m, x, y)
		if grey16 {
			v := uint8(min(m.(*image.NRGBA64).NRGBA64At(x, y).R, 255))
			want = [3]uint8{v, v, v}
		}
		if got := [4]uint8(pix[4*i:]); got != [4]uint8{want[0], want[1], want[2], 255} {
			t.Fatalf("pixel (%d, %d) is %v, want %v", x, y, got, want)
		}
		if p, ok := m.(*image.Paletted); ok {
			for c := range 3 {
				if got := samples[c*w*h+i]; got != 257*float32(pillows(p, x, y)[c]) {
					t.Fatalf("sample %d of (%d, %d) is %v", c, x, y, got)
				}
			}
			continue
		}
		all := [4]uint16{}
		if c, ok := m.At(x, y).(color.NRGBA); ok {
			all = [4]uint16{257 * uint16(c.R), 257 * uint16(c.G), 257 * uint16(c.B), 257 * uint16(c.A)}
		} else {
			c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
			all = [4]uint16{c.R, c.G, c.B, c.A}
		}
		if n == 2 {
			all[1] = all[3]
		}
		for c := range n {
			if got := samples[c*w*h+i]; got != float32(all[c]) {
				t.Fatalf("sample %d of (%d, %d) is %v, want %d", c, x, y, got, all[c])
			}
		}
	}
	window := image.Rect(w/3, h/4, w-w/5, h-h/3)
	part := make([]byte, 4*window.Dx()*window.Dy())
	if err := d.Decode(part, 4*window.Dx(), window); err != nil {
		t.Fatal(err)
	}
	few := make([]float32, n*window.Dx()*window.Dy())
	if err := d.DecodeSamples(few, window); err != nil {
		t.Fatal(err)
	}
	for y := range window.Dy() {
		from, size := (window.Min.Y+y)*w+window.Min.X, window.Dx()
		if !bytes.Equal(part[4*y*size:][:4*size], pix[4*from:][:4*size]) {
			t.Fatalf("row %d of window %v differs", y, window)
		}
		for c := range n {
			if !slices.Equal(few[(c*window.Dy()+y)*size:][:size], samples[c*w*h+from:][:size]) {
				t.Fatalf("row %d of window %v has other samples", y, window)
			}
		}
	}
}

// TestFilesHaveThePixelsOfTheStandardLibrary decodes all files with one Decoder, and windows of
// them.
func TestFilesHaveThePixelsOfTheStandardLibrary(t *testing.T) {
	var d png.Decoder
	for _, f := range all() {
		t.Run(f.String(), func(t *testing.T) {
			data := f.bytes()
			m, err := stdpng.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			checkPixels(t, &d, data, m)
		})
	}
}

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

// TestUnknownChunksMayBeAnywhere puts one before, between and after the others.
func TestUnknownChunksMayBeAnywhere(t *testing.T) {
	good := file{9, 7, 4, 3, true, true, 3}.bytes()
	var d png.Decoder
	for at := len(png.Signature); at < len(good); at += 12 + int(binary.BigEndian.Uint32(good[at:])) {
		compare(t, &d, slices.Insert(slices.Clone(good), at, chunk("abCd", []byte("ef"))...))
		for _, name := range []string{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"} {
			compare(t, &d, slices.Insert(slices.Clone(good), at, chunk(name, nil)...))
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

// TestNumbersOfMasksGoOnFromRowToRow compares those of one call with those of several. Their values
// are compared with Pillow's in package transform.
func TestNumbersOfMasksGoOnFromRowToRow(t *testing.T) {
	var d png.Decoder
	for _, f := range all() {
		if f.colour == 4 || f.depth == 16 && f.colour != 0 {
			continue
		}
		data := f.bytes()
		_, h, err := d.Header(data)
		if err != nil {
			t.Fatal(err)
		}
		n := d.NumberBytes() * f.w
		whole, steps := make([]byte, n*h), make([]byte, n*h)
		if err := d.DecodeNumbers(whole, h); err != nil {
			t.Fatal(err)
		}
		d.Header(data)
		for _, rows := range []int{1, (h + 1) / 2, h} {
			if err := d.DecodeNumbers(steps, rows); err != nil || !bytes.Equal(steps[:n*rows], whole[:n*rows]) {
				t.Errorf("%v: other numbers in the first %d rows (%v)", f, rows, err)
			}
			if rows == 1 { // another call moves the stream
				if err := d.Decode(make([]byte, 4*f.w*h), 4*f.w, image.Rect(0, 0, f.w, h)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestPartsDoNotNeedTheRest(t *testing.T) {
	f := file{64, 4000, 8, 2, false, false, 7}
	data := f.bytes()
	first, last := bytes.Index(data, []byte("IDAT")), bytes.LastIndex(data, []byte("IDAT"))
	if n := binary.BigEndian.Uint32(data[first-4:]); n < 1<<17 {
		t.Fatalf("the first chunk has %d bytes, which may be too few for a row", n)
	}
	data[len(data)-60] ^= 1 // in the last chunk of image data
	if len(data)-60 < last {
		t.Fatal("the last chunk is too short")
	}
	var d png.Decoder
	if _, _, err := d.Header(data); err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, 4*64*4000)
	if err := d.Decode(pix, 4*64, image.Rect(0, 0, 64, 1)); err != nil {
		t.Errorf("the first row: %v", err)
	}
	if err := d.Decode(pix, 4*64, image.Rect(0, 0, 64, 4000)); err == nil {
		t.Error("no error for the whole image")
	}
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

func TestNothingIsAllocated(t *testing.T) {
	var d png.Decoder
	pix, samples := make([]byte, 4*64*40), make([]float32, 4*64*40)
	for _, f := range all() {
		if f.w != 64 {
			continue
		}
		data := f.bytes()
		if n := allocs.PerRun(0, 20, func() {
			d.Header(data)
			n, _, _ := d.StoredSamples()
			if err := d.Decode(pix, 4*64, image.Rect(0, 0, 64, 40)); err != nil {
				t.Fatal(err)
			}
			if err := d.DecodeSamples(samples[:n*64*40], image.Rect(0, 0, 64, 40)); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", f, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, file := range all() {
		if file.w == 21 {
			f.Add(file.bytes(), file.laced)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, mended bool) {
		if mended {
			data = slices.Clone(data)
			mend(data)
		}
		compare(t, new(png.Decoder), data)
	})
}
