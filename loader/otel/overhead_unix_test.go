//go:build unix

package otel_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/otel"
)

// BenchmarkOverhead loads samples that cost nothing, in batches of 64, with metrics and
// without, in turns of a few milliseconds. It reports the processor time per sample, and how
// much more it is with metrics: the median of the turns. What else runs on the machine changes
// that of single turns, and the time by the clock much more. Nothing collects meanwhile:
// BenchmarkCollect has that.
func BenchmarkOverhead(b *testing.B) {
	b.Run("workers=0", func(b *testing.B) { benchmarkOverhead(b, 0) })
	b.Run("workers=2", func(b *testing.B) { benchmarkOverhead(b, 2) })
}

func benchmarkOverhead(b *testing.B, workers int) {
	const n, batch = 1 << 16, 64
	with := func(options ...loader.Option) *loader.Loader {
		return loadertest.New(b, fake{n: n}, append(options, loader.Workers(workers), loader.BatchSize(batch))...)
	}
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	loaders := []*loader.Loader{with(), with(loader.Observe(otel.Trace(otel.MeterProvider(provider))))}
	var plain, more []float64 // of every turn: ns per sample, and how much more with metrics
	for i := 0; b.Loop(); i++ {
		var times [2]float64
		for k := range loaders {
			k = (k + i) % len(loaders) // each is first in every other turn
			begun := processorTime(b)
			epoch(b, b.Context(), loaders[k], 0)
			times[k] = float64((processorTime(b) - begun).Nanoseconds()) / n
		}
		plain, more = append(plain, times[0]), append(more, 100*(times[1]/times[0]-1))
	}
	slices.Sort(plain)
	slices.Sort(more)
	b.ReportMetric(plain[len(plain)/2], "ns/sample")
	b.ReportMetric(more[len(more)/2], "%more")
}

// processorTime is the time of all processors that this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCollect collects the metrics of a loader that has had 16,384 waits.
func BenchmarkCollect(b *testing.B) {
	reader := metric.NewManualReader()
	hooks := otel.Trace(otel.MeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	loadertest.New(b, fake{n: 64}, loader.Observe(hooks))
	for k := range 1 << 14 {
		hooks.BatchDelivered(loader.BatchInfo{Context: b.Context()}, time.Duration(k)*time.Microsecond)
	}
	var all metricdata.ResourceMetrics
	for b.Loop() {
		if err := reader.Collect(b.Context(), &all); err != nil {
			b.Fatal(err)
		}
	}
}
