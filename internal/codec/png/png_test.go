package png_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	stdpng "image/png"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/png"
)

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
		bounded(t, data)
	})
}
