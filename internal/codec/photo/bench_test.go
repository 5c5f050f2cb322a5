package photo_test

import (
	"image"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/photo"
)

// BenchmarkWhole decodes all shared photos: a file, its fast record, its small one, and
// so on with the next photo. It reports the mean of the photos' least times over the
// rounds, which other work on the machine hardly changes, and the sizes of the records.
func BenchmarkWhole(b *testing.B) {
	var files, fast, small [][]byte
	sizes := [3]int{}
	var packer photo.Packer
	for _, p := range sharedPhotos(b) {
		records := [2][]byte{}
		for i, level := range []string{"fast", "small"} {
			record, err := packer.Pack(nil, p.data, levels[level])
			if err != nil {
				b.Fatal(err)
			}
			records[i] = record
			sizes[1+i] += len(record)
		}
		sizes[0] += len(p.data)
		files, fast, small = append(files, p.data), append(fast, records[0]), append(small, records[1])
	}
	dst := make([]byte, 64<<20)
	file, record := new(jpeg.Decoder), newDecoder()
	var least [3][]time.Duration
	for k := range least {
		least[k] = slices.Repeat([]time.Duration{time.Hour}, len(files))
	}
	for b.Loop() {
		for i := range files {
			for k, data := range [][]byte{files[i], fast[i], small[i]} {
				begun := time.Now()
				var d interface {
					Header(data []byte) (jpeg.Config, error)
					Decode(dst []byte, stride int, window image.Rectangle) error
				} = record
				if k == 0 {
					d = file
				}
				c, err := d.Header(data)
				if err == nil {
					err = d.Decode(dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
				}
				if err != nil {
					b.Fatal(err)
				}
				least[k][i] = min(least[k][i], time.Since(begun))
			}
		}
	}
	for k, name := range []string{"JPEG", "fast", "small"} {
		sum := time.Duration(0)
		for _, d := range least[k] {
			sum += d
		}
		b.ReportMetric(float64(sum.Microseconds())/float64(len(files)), name+"-µs/photo")
		b.ReportMetric(float64(sizes[k])/float64(sizes[0]), name+"-size")
	}
}
