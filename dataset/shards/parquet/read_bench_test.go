package parquet_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/datatest"
)

// BenchmarkReadPhotos reads 640 files of 100 kB, encoded images without their decoding, from
// shards whose blocks are read anew in every epoch. All are in the page cache. The tar file
// has a checksum per block, which is computed; the Parquet file has none.
func BenchmarkReadPhotos(b *testing.B) {
	const n, size = 640, 100_000
	image := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	for k := range image {
		image[k] = byte(random.Uint32())
	}
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}, {Name: "label", Dtype: dataset.Int64}}
	ds := dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, size), image)
		dataset.Set(dst, 1, int64(i%10))
		return nil
	})
	dir := b.TempDir()
	if err := shards.WriteTar(b.Context(), dir+"/%d.tar", ds, []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}); err != nil {
		b.Fatal(err)
	}
	photos := make([]photo, n)
	for i := range photos {
		photos[i].Image.Bytes, photos[i].Label = image, int64(i%10)
	}
	writePhotos(b, dir+"/0.parquet", photos)
	store := objects.Folder(dir)
	for _, c := range []struct {
		what, image, label string
		format             shards.Format
	}{{"tar", "jpg", "cls", shards.WebDataset()}, {"parquet", "image", "label", parquet.Format()}} {
		index := scan(b, store, c.format, 8<<20, "0."+c.what)
		read, err := shards.Open(store, index, []shards.Field{shards.Bytes("image", c.image), shards.Scalar[int64]("label", c.label)}, shards.MaxBytes(0))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.what, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			r, slot := datatest.Open(b, read), newSlot(read)
			i := 0
			for b.Loop() {
				if err := r.Place(b.Context(), i, slot); err != nil {
					b.Fatal(err)
				}
				i = (i + 1) % n
			}
		})
	}
}
