package jpeg

import (
	"bytes"
	"image"
	stdjpeg "image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

// perPhoto runs f for all shared photos, and reports the time for one.
func perPhoto(b *testing.B, f func(data []byte) error) {
	paths, _ := filepath.Glob("../../../../shared/photos/*/*.JPEG")
	if len(paths) == 0 {
		b.Skip("shared photos are missing")
	}
	var photos [][]byte
	size := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		photos = append(photos, data)
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
	var d Decoder
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
	var d Decoder
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

// perHeader runs f, which has an image's header, for all shared photos.
func perHeader(b *testing.B, f func(d *Decoder) error) {
	var d Decoder
	perPhoto(b, func(data []byte) error {
		if _, err := d.Header(data); err != nil {
			return err
		}
		return f(&d)
	})
}

func BenchmarkHeader(b *testing.B) {
	perHeader(b, func(*Decoder) error { return nil })
}

func BenchmarkUnstuff(b *testing.B) {
	perHeader(b, (*Decoder).openScan)
}

// BenchmarkEntropySkipped reads the entropy code and keeps no coefficient.
func BenchmarkEntropySkipped(b *testing.B) {
	perHeader(b, func(d *Decoder) error { return d.readRows(0, false) })
}

func BenchmarkEntropy(b *testing.B) {
	perHeader(b, func(d *Decoder) error { return d.readRows(d.mcuWide, false) })
}

// BenchmarkSamples reads the entropy code and computes the samples.
func BenchmarkSamples(b *testing.B) {
	perHeader(b, func(d *Decoder) error { return d.readRows(d.mcuWide, true) })
}

// readRows decodes the MCU columns before x1 of all rows, without colours.
func (d *Decoder) readRows(x1 int, samples bool) error {
	if err := d.openScan(); err != nil {
		return err
	}
	d.view = view{x1: x1, y1: d.mcuHigh}
	for i := range d.components {
		d.components[i].setView(d.view)
	}
	d.painter.open(d)
	for my := range d.mcuHigh {
		read := d.decodeRow
		if samples {
			read = func(_, _ int) error { return d.sampleRow(my) }
		}
		if err := read(0, x1); err != nil {
			return err
		}
	}
	return nil
}
