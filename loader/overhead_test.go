package loader_test

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkOverhead loads samples that cost nothing, with a loop body that does
// nothing. So it measures the loader's own cost per sample.
func BenchmarkOverhead(b *testing.B) {
	for _, bench := range []struct {
		name    string
		options []loader.Option
	}{
		{"workers=0", []loader.Option{loader.Workers(0)}},
		{"workers=1", []loader.Option{loader.Workers(1)}},
		{"workers=2", []loader.Option{loader.Workers(2)}},
		{"workers=2/help=false", []loader.Option{loader.Workers(2), loader.Help(false)}},
		{"workers=2/shuffle", []loader.Option{loader.Workers(2), loader.Shuffle(true)}},
		{"workers=16", []loader.Option{loader.Workers(16)}},
		{"workers=64", []loader.Option{loader.Workers(64)}},
		{"workers=auto", []loader.Option{loader.Workers(loader.Auto)}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const batch = 64
			l := loadertest.New(b, &fake{n: 1 << 20}, append(bench.options, loader.BatchSize(batch))...)
			batches := 0
			b.ReportAllocs()
			begun := time.Now()
			for b.Loop() {
				for _, err := range l.Epoch(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
					batches++
				}
			}
			b.ReportMetric(float64(time.Since(begun).Nanoseconds())/float64(batches*batch), "ns/sample")
		})
	}
}

func TestBatchesCostFewAllocations(t *testing.T) {
	const n, batch = 1 << 14, 64
	for _, workers := range []int{0, 2, loader.Auto} {
		l := loadertest.New(t, &fake{n: n}, loader.Workers(workers), loader.BatchSize(batch))
		perEpoch := allocs.PerRun(20*n/batch, 5, func() {
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				b.Tensor("x")
			}
		})
		if perBatch := perEpoch / (n / batch); perBatch > 20 {
			t.Errorf("%d workers: %.1f allocations per batch, want 20 at most", workers, perBatch)
		}
	}
}
