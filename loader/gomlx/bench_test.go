package gomlx_test

import (
	"context"
	"testing"

	"github.com/gomlx/compute"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

// BenchmarkBatch measures what a batch of 32 images of 224×224 pixels costs beyond
// the loader: the copy into tensors, and their memory. The samples cost nothing.
func BenchmarkBatch(b *testing.B) {
	for _, dtype := range []dataset.Dtype{dataset.Uint8, dataset.Float32} {
		spec := dataset.Spec{{Name: "image", Dtype: dtype, Shape: dataset.Shape{3, 224, 224}}, {Name: "label", Dtype: dataset.Int64}}
		free := dataset.Func(1<<20, spec, func(context.Context, int, dataset.Slot) error { return nil })
		bytes := int64(32 * spec[0].Bytes())
		b.Run(dtype.String()+"/loader alone", func(b *testing.B) {
			l := loadertest.New(b, free, loader.BatchSize(32))
			b.ReportAllocs()
			n := 0
			for _, err := range l.Epochs(b.Context(), 0, 1<<20) {
				if err != nil {
					b.Fatal(err)
				}
				if n++; n > b.N {
					break
				}
			}
		})
		for name, backend := range map[string]func(testing.TB) compute.Backend{"go": goBackend, "xla": xlaBackend} {
			b.Run(dtype.String()+"/"+name, func(b *testing.B) {
				ds := newDataset(b, backend(b), loadertest.New(b, free, loader.BatchSize(32)), gomlx.Labels("label"), gomlx.Infinite(true))
				b.SetBytes(bytes)
				b.ReportAllocs()
				n := 0
				for batch, err := range ds.Iter() {
					if err != nil {
						b.Fatal(err)
					}
					if err := batch.Finalize(); err != nil {
						b.Fatal(err)
					}
					if n++; n > b.N {
						break
					}
				}
			})
		}
	}
}
