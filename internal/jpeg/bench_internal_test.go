package jpeg

import (
	"os"
	"path/filepath"
	"testing"
)

// perPhoto runs f, which has a picture's header, for all shared photos, and
// reports the time for one.
func perPhoto(b *testing.B, f func(d *Decoder) error) {
	paths, _ := filepath.Glob("../../../shared/photos/*/*.JPEG")
	if len(paths) == 0 {
		b.Skip("shared photos are missing")
	}
	var photos [][]byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		photos = append(photos, data)
	}
	var d Decoder
	for b.Loop() {
		for _, data := range photos {
			if _, err := d.Header(data); err != nil {
				b.Fatal(err)
			}
			if err := f(&d); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(photos)), "µs/photo")
}

func BenchmarkHeader(b *testing.B) {
	perPhoto(b, func(*Decoder) error { return nil })
}

func BenchmarkUnstuff(b *testing.B) {
	perPhoto(b, (*Decoder).openScan)
}

// BenchmarkEntropySkipped reads the entropy code and keeps no coefficient.
func BenchmarkEntropySkipped(b *testing.B) {
	perPhoto(b, func(d *Decoder) error { return d.readRows(0, false) })
}

func BenchmarkEntropy(b *testing.B) {
	perPhoto(b, func(d *Decoder) error { return d.readRows(d.mcuWide, false) })
}

// BenchmarkSamples reads the entropy code and computes the samples.
func BenchmarkSamples(b *testing.B) {
	perPhoto(b, func(d *Decoder) error { return d.readRows(d.mcuWide, true) })
}

// readRows decodes the MCU columns before x1 of all rows, without colours.
func (d *Decoder) readRows(x1 int, samples bool) error {
	if err := d.openScan(); err != nil {
		return err
	}
	d.view = view{x1: x1, y1: d.mcuHigh}
	for i := range d.components {
		c := &d.components[i]
		c.stride = x1 * c.h * 8
		c.strip = grow(c.strip, c.stride*(8*c.v+1))
	}
	for my := range d.mcuHigh {
		if err := d.decodeRow(0, x1); err != nil {
			return err
		}
		for i := range d.components {
			if samples {
				d.inverseRow(&d.components[i], my)
			}
		}
	}
	return nil
}
