package stream_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

// constant gives n records of size bytes.
type constant struct {
	n, size int
}

func (c *constant) Spec() dataset.Spec {
	return dataset.Spec{{Name: "data", Dtype: dataset.Uint8, Shape: dataset.Shape{c.size}}}
}
func (c *constant) Mark() []byte { return nil }

func (c *constant) Next(ctx context.Context, dst dataset.Slot) error {
	if c.n--; c.n < 0 {
		return io.EOF
	}
	dst.Cell(0).Bytes()[0] = 1
	return ctx.Err()
}

// From the source through the spool into batches, with two workers.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{100, 10_000, 100_000} {
		for _, window := range []int{1, 1000} {
			b.Run(fmt.Sprintf("bytes=%d/window=%d", size, window), func(b *testing.B) {
				ds, err := stream.New(&constant{b.N, size}, b.TempDir(), stream.Window(window))
				if err != nil {
					b.Fatal(err)
				}
				defer ds.Close()
				l, err := loader.New(ds, loader.BatchSize(100), loader.Workers(2))
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				for batch, err := range l.Epoch(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
					if batch.Number()%10 == 9 {
						if err := ds.Commit(batch.Position().Draw); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
