package tiff_test

import (
	"bytes"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"testing"

	xtiff "golang.org/x/image/tiff"

	"github.com/penstock-go/penstock/internal/codec/tiff"
)

// photo is an image of smooth colours with some noise.
func photo(w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			n := r.IntN(6)
			m.SetRGBA(x, y, color.RGBA{uint8(x/4 + n), uint8(y/4 + n), uint8((x+y)/8 + n), 255})
		}
	}
	return m
}

// BenchmarkWhole decodes whole images, here into reused memory, and with x/image, which
// allocates memory for each.
func BenchmarkWhole(b *testing.B) {
	colours := photo(1024, 768)
	grays := image.NewGray(colours.Rect)
	for i := range grays.Pix {
		grays.Pix[i] = colours.Pix[4*i]
	}
	for _, c := range []struct {
		name    string
		image   image.Image
		options xtiff.Options
	}{
		{"gray", grays, xtiff.Options{}},
		{"gray/deflate", grays, xtiff.Options{Compression: xtiff.Deflate, Predictor: true}},
		{"RGBA", colours, xtiff.Options{}},
		{"RGBA/deflate", colours, xtiff.Options{Compression: xtiff.Deflate}},
		{"RGBA/deflate/predictor", colours, xtiff.Options{Compression: xtiff.Deflate, Predictor: true}},
	} {
		var file bytes.Buffer
		if err := xtiff.Encode(&file, c.image, &c.options); err != nil {
			b.Fatal(err)
		}
		pixels := float64(1024 * 768)
		b.Run(c.name+"/penstock", func(b *testing.B) {
			var d tiff.Decoder
			dst := make([]byte, 4*1024*768)
			b.ReportAllocs()
			for b.Loop() {
				w, h, err := d.Header(file.Bytes())
				if err == nil {
					err = d.Decode(dst, 4*w, image.Rect(0, 0, w, h))
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(pixels*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixels/s")
		})
		b.Run(c.name+"/x", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := xtiff.Decode(io.Reader(bytes.NewReader(file.Bytes()))); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(pixels*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixels/s")
		})
	}
}
