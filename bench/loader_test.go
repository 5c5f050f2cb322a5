package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkPhotos loads photos with the evaluation preset, in epochs of one loader. side=cached keeps what an earlier epoch
// has decoded.
func BenchmarkPhotos(b *testing.B) {
	c := folder(b, bench.Cell{Work: "eval", Size: 224, Samples: 512, Config: result.Config{Batch: 32, Data: "photos"}})
	for _, workers := range []int{0, 1, 2, 4} {
		b.Run(fmt.Sprintf("side=decoded/workers=%d", workers), func(b *testing.B) { loop(b, open(b, c), workers) })
	}
	b.Run("side=cached/workers=2", func(b *testing.B) {
		ds := open(b, c)
		cached, err := dataset.Cached(ds, int64(ds.Len())*int64(ds.Spec()[0].Bytes()+8))
		if err != nil {
			b.Fatal(err)
		}
		epoch(b, newLoader(b, cached, loader.Workers(2), loader.BatchSize(32)), 0)
		loop(b, cached, 2)
	})
}

// loop reports the samples per second of epochs.
func loop(b *testing.B, ds dataset.Dataset, workers int) {
	l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(32))
	n := 0
	for b.Loop() {
		epoch(b, l, n)
		n++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(n*ds.Len())/b.Elapsed().Seconds(), "samples/s")
}

func newLoader(b *testing.B, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	b.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// epoch loads one epoch and does nothing with it.
func epoch(b *testing.B, l *loader.Loader, n int) time.Duration {
	b.Helper()
	begun := time.Now()
	for _, err := range l.Epoch(b.Context(), n) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begun)
}

// newNet is a cell's net, whose VM has allocated its memory.
func newNet(b *testing.B, c bench.Cell) *model.Net {
	b.Helper()
	net, err := model.New(c.Config.Model, c.Config.Batch, c.Size, "cpu")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { net.Close() })
	if err := net.Infer(make([]float32, c.Config.Batch*3*c.Size*c.Size)); err != nil {
		b.Fatal(err)
	}
	return net
}
