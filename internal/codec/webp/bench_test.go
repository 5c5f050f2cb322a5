package webp_test

import (
	"image"
	"os"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/webp"
)

// BenchmarkDecode decodes images of 375×500 pixels (height×width) into reused memory. What it still
// allocates is the memory of golang.org/x/image, which has no decoder that can be used again.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"lossy", "lossless"} {
		file, err := os.ReadFile("testdata/bench-" + name + ".webp")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			var d webp.Decoder
			dst := make([]byte, 4*375*500)
			b.ReportAllocs()
			for b.Loop() {
				w, h, err := d.Header(file)
				if err == nil {
					err = d.Decode(dst, 4*w, image.Rect(0, 0, w, h))
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(375*500*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixels/s")
		})
	}
}
