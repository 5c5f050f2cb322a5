package jpeg_test

import (
	"bytes"
	"image"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

func TestWindowsAreCropsOfTheWhole(t *testing.T) {
	var d jpeg.Decoder
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range testImages(t) {
		c, err := d.Header(p.data)
		if err != nil {
			continue
		}
		pixels, err := whole(&d, c)
		if err != nil {
			continue
		}
		for range 20 {
			checkWindow(t, &d, p.name, c, pixels, randomWindow(r, c))
		}
	}
}

// randomWindow returns a window of one pixel or more.
func randomWindow(r *rand.Rand, c jpeg.Config) image.Rectangle {
	x, y := r.IntN(c.Width), r.IntN(c.Height)
	return image.Rect(x, y, x+1+r.IntN(c.Width-x), y+1+r.IntN(c.Height-y))
}

// checkWindow decodes a window of an image with these pixels, into rows with a
// gap between them that must stay as it is.
func checkWindow(tb testing.TB, d *jpeg.Decoder, name string, c jpeg.Config, pixels []byte, w image.Rectangle) {
	tb.Helper()
	const gap = 5
	stride := 4*w.Dx() + gap
	dst := bytes.Repeat([]byte{0xa5}, stride*w.Dy())
	if err := d.Decode(dst, stride, w); err != nil {
		tb.Fatalf("%s: window %v: %v", name, w, err)
	}
	for y := range w.Dy() {
		row := dst[y*stride:][:stride]
		from := 4 * ((w.Min.Y+y)*c.Width + w.Min.X)
		if !bytes.Equal(row[:4*w.Dx()], pixels[from:from+4*w.Dx()]) {
			tb.Fatalf("%s: window %v of %d×%d: row %d differs", name, w, c.Width, c.Height, y)
		}
		if !bytes.Equal(row[4*w.Dx():], bytes.Repeat([]byte{0xa5}, gap)) {
			tb.Fatalf("%s: window %v: written beyond row %d", name, w, y)
		}
	}
}

func TestWindowThatDoesNotFitIsAnError(t *testing.T) {
	var d jpeg.Decoder
	dst := make([]byte, 1<<16)
	if err := d.Decode(dst, 400, image.Rect(0, 0, 1, 1)); err == nil {
		t.Error("decoded without a header")
	}
	c, err := d.Header(named(t, "sample.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what   string
		n      int
		stride int
		window image.Rectangle
	}{
		{"left of the image", len(dst), 400, image.Rect(-1, 0, 3, 3)},
		{"right of the image", len(dst), 400, image.Rect(0, 0, c.Width+1, 3)},
		{"below the image", len(dst), 400, image.Rect(0, 0, 3, c.Height+1)},
		{"stride shorter than a row", len(dst), 11, image.Rect(0, 0, 3, 3)},
		{"destination shorter than the window", 2*400 + 11, 400, image.Rect(0, 0, 3, 3)},
	} {
		if err := d.Decode(dst[:test.n], test.stride, test.window); err == nil {
			t.Errorf("%s: no error", test.what)
		}
	}
	if err := d.Decode(dst[:2*400+12], 400, image.Rect(0, 0, 3, 3)); err != nil {
		t.Errorf("destination that just fits: %v", err)
	}
	if err := d.Decode(nil, 0, image.Rectangle{}); err != nil {
		t.Errorf("empty window: %v", err)
	}
}

// named returns one file of the set.
func named(tb testing.TB, name string) []byte {
	for _, p := range testImages(tb) {
		if p.name == name {
			return p.data
		}
	}
	tb.Fatalf("no file %s in the set", name)
	return nil
}
