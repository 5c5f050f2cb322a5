package packed_test

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

// packedPhotos is a file of 256 preprocessed photos with checksums.
func packedPhotos(b *testing.B) string {
	name := filepath.Join(b.TempDir(), "packed")
	p, err := packed.Create(b.Context(), name, photoSpec)
	if err != nil {
		b.Fatal(err)
	}
	photo := make([]float32, 3*224*224)
	for i := range 256 {
		for k := range photo {
			photo[k] = float32(i + k)
		}
		if err := p.AppendBatch([]int{i}, tensorBatch{photoSpec, []dataset.Tensor{dataset.TensorOf(photo, 1, 3, 224, 224)}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Finish(); err != nil {
		b.Fatal(err)
	}
	return name
}

func placeEvery(b *testing.B, ds *packed.File, batch datatest.Slots) time.Duration {
	r, err := ds.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	begun := time.Now()
	for i := range ds.Len() {
		if err := r.Place(b.Context(), i, batch[i%len(batch)]); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begun)
}

// BenchmarkPackedChecks reads 256 photos one after the other with checksums that
// were not compared yet, again, and by a loop of pread, in turn. For comparison
// it reports what a checksum alone costs.
func BenchmarkPackedChecks(b *testing.B) {
	name := packedPhotos(b)
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	batch := datatest.NewSlots(32, photoSpec)
	var first, later, pread, sum time.Duration
	b.ReportAllocs()
	for b.Loop() {
		ds, err := packed.Open(os.DirFS(filepath.Dir(name)), "packed")
		if err != nil {
			b.Fatal(err)
		}
		first += placeEvery(b, ds, batch)
		later += placeEvery(b, ds, batch)
		begun := time.Now()
		for i := range ds.Len() {
			if _, err := f.ReadAt(batch[i%len(batch)].Cell(0).Bytes(), int64(i)*photoBytes); err != nil {
				b.Fatal(err)
			}
		}
		pread += time.Since(begun)
		begun = time.Now()
		for i := range ds.Len() {
			crc32.Checksum(batch[i%len(batch)].Cell(0).Bytes(), crc32.MakeTable(crc32.Castagnoli))
		}
		sum += time.Since(begun)
	}
	b.ReportMetric(100*pread.Seconds()/first.Seconds(), "first-%-of-pread")
	b.ReportMetric(100*pread.Seconds()/later.Seconds(), "later-%-of-pread")
	b.ReportMetric(float64(256*b.N)/later.Seconds(), "samples/s")
	b.ReportMetric(float64(256*b.N*photoBytes)/1e6/sum.Seconds(), "checksum-MB/s")
}
