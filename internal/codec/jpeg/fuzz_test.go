package jpeg_test

import (
	"bytes"
	"errors"
	"image"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzDecode looks for files that panic, that decode differently in a window or a
// second time, that end too early for some windows only, that a decoder with
// AllowTruncated refuses and one without it accepts, that decode differently, or with another
// error, without kernels, or that take more than their size and their pixels allow.
func FuzzDecode(f *testing.F) {
	for i, p := range testImages(f) {
		if len(p.data) < 3000 && i%3 == 0 {
			f.Add(p.data)
		}
	}
	const most = 1 << 14
	f.Fuzz(func(t *testing.T, data []byte) {
		strict := jpeg.Decoder{MaxPixels: most}
		tolerant := jpeg.Decoder{MaxPixels: most, AllowTruncated: true}
		c, err := strict.Header(data)
		const pixelMemory = 4 + 4*5/2 // pixels, coefficients and what finds them
		granted := int64(0)
		if err == nil {
			granted = int64(pixelMemory * (c.Width + 31) * (c.Height + 31))
		}
		for _, truncated := range []bool{false, true} {
			hostile.Bounded(t, len(data), granted, func() {
				_, _ = decode(&jpeg.Decoder{MaxPixels: most, AllowTruncated: truncated}, data)
			})
		}
		if err != nil {
			return
		}
		if c.Width*c.Height > most || c.Width < 1 || c.Height < 1 {
			t.Fatalf("the header says %d×%d pixels, more than %d", c.Width, c.Height, most)
		}
		if _, err := tolerant.Header(data); err != nil {
			t.Fatalf("tolerant header: %v", err)
		}
		loose, looseErr := whole(&tolerant, c)
		pixels, err := whole(&strict, c)
		checkPortable(t, &strict, data, verdict(pixels, err))
		checkPortable(t, &tolerant, data, verdict(loose, looseErr))
		corner := strict.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1))
		if cut := errors.Is(err, io.ErrUnexpectedEOF); cut != errors.Is(corner, io.ErrUnexpectedEOF) || err == nil && corner != nil {
			t.Fatalf("error %v, but for a corner %v", err, corner)
		}
		if err != nil {
			return
		}
		if looseErr != nil || !bytes.Equal(loose, pixels) {
			t.Fatalf("tolerant decoder differs: %v", looseErr)
		}
		r := rand.New(rand.NewPCG(uint64(len(data)), uint64(c.Width)))
		checkWindow(t, &strict, "fuzz", c, pixels, randomWindow(r, c))
		checkWindow(t, &strict, "fuzz", c, pixels, image.Rect(0, 0, c.Width, c.Height))
	})
}

// checkPortable decodes a file without kernels, as d does otherwise.
func checkPortable(tb testing.TB, d *jpeg.Decoder, data []byte, want string) {
	tb.Helper()
	cputest.Portable(func() {
		p := jpeg.Decoder{MaxPixels: d.MaxPixels, AllowTruncated: d.AllowTruncated}
		if got := verdict(decode(&p, data)); got != want {
			tb.Fatalf("portable code gives %s, the kernels %s", got, want)
		}
	})
}
