package shards_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
)

// BenchmarkReadPhotos reads 640 files of 100 kB, encoded images without their decoding: from
// a folder, and from shards whose blocks are read anew in every epoch. All are in the page
// cache. The folder does less work: it computes no checksums.
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
	for i := range n {
		class := filepath.Join(dir, "folder", fmt.Sprint(i%10))
		if err := os.MkdirAll(class, 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("%d.jpg", i)), image, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	folder, err := dataset.ImageFolder(os.DirFS(filepath.Join(dir, "folder")))
	if err != nil {
		b.Fatal(err)
	}
	if err := shards.WriteTar(b.Context(), filepath.Join(dir, "%d.tar"), ds, []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}); err != nil {
		b.Fatal(err)
	}
	var records []byte
	for i := range n {
		records = append(records, record(example(feature("image", message(1, message(1, image))), feature("label", message(3, message(1, []byte{byte(i % 10)})))))...)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.tfrecord"), records, 0o666); err != nil {
		b.Fatal(err)
	}
	store := objects.Folder(dir)
	tar, err := shards.Open(store, scan(b, store, shards.WebDataset(), 8<<20, "0.tar"),
		[]shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")}, shards.MaxBytes(0))
	if err != nil {
		b.Fatal(err)
	}
	tfrecord, err := shards.Open(store, scan(b, store, shards.TFRecord(), 8<<20, "a.tfrecord"),
		[]shards.Field{shards.Bytes("image", "image"), shards.Scalar[int64]("label", "label")}, shards.MaxBytes(0))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		what string
		ds   dataset.Dataset
	}{{"folder", folder}, {"tar", tar}, {"tfrecord", tfrecord}} {
		b.Run(c.what, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			r, slot := datatest.Open(b, c.ds), newSlot(c.ds)
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
