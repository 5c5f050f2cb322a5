package photo_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/photo"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/hostile"
)

const fuzzPixels = 1 << 14

// FuzzRecord looks for records that panic, that decode differently in a window or a
// second time, or without kernels, or that are refused for some windows though no row is
// damaged. Odd inputs get the right checksums, so that what they protect is reached.
func FuzzRecord(f *testing.F) {
	for i, name := range golden {
		record := pack(f, find(f, testImages(f), name), levels[[]string{"fast", "small"}[i%2]])
		f.Add(record, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed && len(data) > 28 {
			data = bytes.Clone(data)
			sealRows(data)
		}
		open := func() *photo.Decoder { return &photo.Decoder{JPEG: &jpeg.Decoder{MaxPixels: fuzzPixels}} }
		d := open()
		c, pixels, err := whole(d, data)
		const pixelMemory, rowMemory = 4, 3 * 4 * 8 * 9 // rows of blocks, of samples and of codes
		granted := int64(0)
		if pixels != nil {
			granted = int64(c.Width * (pixelMemory*c.Height + rowMemory))
		}
		hostile.Bounded(t, len(data), granted, func() { _, _, _ = whole(open(), data) })
		cputest.Portable(func() {
			if _, portable, wrong := whole(open(), data); fmt.Sprint(wrong) != fmt.Sprint(err) || err == nil && !bytes.Equal(portable, pixels) {
				t.Errorf("error %v, but %v without kernels, or other pixels", err, wrong)
			}
		})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "photo: ") {
				t.Fatalf("error %q does not say whose it is", err)
			}
			return
		}
		if c.Width*c.Height > fuzzPixels || c.Width < 1 || c.Height < 1 {
			t.Fatalf("%d×%d pixels, more than %d", c.Width, c.Height, fuzzPixels)
		}
		checkWindows(t, d, c, pixels)
	})
}

// checkWindows compares a window, and the whole image again, with the image's pixels.
func checkWindows(t *testing.T, d *photo.Decoder, c jpeg.Config, pixels []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(c.Width), uint64(c.Height)))
	x, y := r.IntN(c.Width), r.IntN(c.Height)
	for _, w := range []image.Rectangle{
		image.Rect(x, y, x+1+r.IntN(c.Width-x), y+1+r.IntN(c.Height-y)),
		image.Rect(0, 0, c.Width, c.Height),
	} {
		part := make([]byte, 4*w.Dx()*w.Dy())
		if err := d.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(c, pixels, w)) {
			t.Fatalf("window %v of %d×%d differs: %v", w, c.Width, c.Height, err)
		}
	}
}

// FuzzPack looks for JPEG files whose records have other pixels, and for files that
// decode but cannot be packed, though the packer promises it.
func FuzzPack(f *testing.F) {
	for i, p := range testImages(f) {
		if len(p.data) < 3000 && i%5 == 0 {
			f.Add(p.data, i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, small bool) {
		file := jpeg.Decoder{MaxPixels: fuzzPixels}
		c, pixels, wrong := whole(&file, data)
		if wrong != nil && c.Width*c.Height == 0 {
			return // the header is refused, or the image is too large for this test
		}
		level := blockcode.Fast
		if small {
			level = blockcode.Small
		}
		var record []byte
		var err error
		const pixelMemory = 3 * 2 * 8 // coefficients, and what is coded of them
		hostile.Bounded(t, len(data), int64(pixelMemory*(c.Width+31)*(c.Height+31)), func() {
			record, err = new(photo.Packer).Pack(nil, data, level)
		})
		cputest.Portable(func() {
			if portable, wrong := new(photo.Packer).Pack(nil, data, level); fmt.Sprint(wrong) != fmt.Sprint(err) || !bytes.Equal(portable, record) {
				t.Errorf("error %v, but %v without kernels, or another record", err, wrong)
			}
		})
		if err != nil {
			if wrong == nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("a file that decodes cannot be packed: %v", err)
			}
			return
		}
		if wrong != nil {
			t.Fatalf("a file was packed that does not decode: %v", wrong)
		}
		d := newDecoder()
		got, again, err := whole(d, record)
		if err != nil || !bytes.Equal(again, pixels) || got.Orientation != c.Orientation {
			t.Fatalf("the record gives other pixels or another orientation: %v", err)
		}
		checkWindows(t, d, got, pixels)
	})
}
