package loader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkWaiting loads samples that wait 100 ms each, as reads from remote storage
// do, with up to 256 workers. W workers could load 10 × W samples a second.
func BenchmarkWaiting(b *testing.B) {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64}}
	for _, workers := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			ds := dataset.Func(16*workers, spec, func(ctx context.Context, i int, dst dataset.Slot) error {
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
				dataset.Set(dst, 0, int64(i))
				return nil
			})
			l, err := loader.New(ds, loader.Workers(workers), loader.BatchSize(32))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			samples := 0
			for b.Loop() {
				for batch, err := range l.Epoch(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
					samples += batch.Len()
				}
			}
			b.ReportMetric(float64(samples)/b.Elapsed().Seconds(), "samples/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
