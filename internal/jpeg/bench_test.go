package jpeg_test

import (
	"bytes"
	"image"
	stdjpeg "image/jpeg"
	"sort"
	"testing"

	"github.com/penstock-go/penstock/internal/jpeg"
)

// load reads all shared photos, in the order of their names.
func load(b *testing.B) [][]byte {
	var names []string
	for name := range goldenPhotos(b) {
		names = append(names, name)
	}
	sort.Strings(names)
	var photos [][]byte
	for _, name := range names {
		photos = append(photos, readPhoto(b, name))
	}
	return photos
}

// perPhoto runs f for all photos, and reports the time for one.
func perPhoto(b *testing.B, f func(data []byte) error) {
	photos := load(b)
	size := 0
	for _, data := range photos {
		size += len(data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, data := range photos {
			if err := f(data); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(photos)), "µs/photo")
}

func BenchmarkWhole(b *testing.B) {
	var d jpeg.Decoder
	dst := make([]byte, 64<<20)
	perPhoto(b, func(data []byte) error {
		c, err := d.Header(data)
		if err != nil {
			return err
		}
		return d.Decode(dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
	})
}

// BenchmarkCrop decodes what resizing the shorter side to 256 and cropping the
// centre to 224 needs.
func BenchmarkCrop(b *testing.B) {
	var d jpeg.Decoder
	dst := make([]byte, 64<<20)
	perPhoto(b, func(data []byte) error {
		c, err := d.Header(data)
		if err != nil {
			return err
		}
		short := min(c.Width, c.Height)
		side := (224*short + 255) / 256
		x, y := (c.Width-side)/2, (c.Height-side)/2
		r := image.Rect(x-2, y-2, x+side+2, y+side+2).Intersect(image.Rect(0, 0, c.Width, c.Height))
		return d.Decode(dst, 4*r.Dx(), r)
	})
}

func BenchmarkStandardLibrary(b *testing.B) {
	perPhoto(b, func(data []byte) error {
		_, err := stdjpeg.Decode(bytes.NewReader(data))
		return err
	})
}
