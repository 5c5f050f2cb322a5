package bench_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// BenchmarkEndToEnd is the second study: loading and inference together, by batch
// size, workers, model and data, on gorgonia's VM for the processor, which shares
// it with the workers. There is no transfer: the VM reads the loader's memory.
func BenchmarkEndToEnd(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(modelSize)), "preprocessed": preprocessed(b, modelSize)}
	all := newNets(b)
	var cells []cell
	for _, data := range []string{"photos", "preprocessed"} {
		for _, k := range model.Kinds() {
			for _, batch := range sized([]int{4}, []int{8, 32}, []int{32, 128, 256, 512, 1024}) {
				for _, workers := range sized([]int{2}, []int{1, 2, 4}, []int{1, 2, 4, 8, 12, 16, 32, 48, 64}) {
					config := result.Config{Batch: batch, Workers: workers, Data: data, Model: k.Name, Device: "cpu", Help: result.HelpOn}
					ds := repeated(b, of[data], sized(8, 64, 4096))
					cells = append(cells, cell{name: named(config), config: config, report: reportParts,
						run: func(ctx context.Context) (result.Measured, error) {
							net, err := all.of(k, batch)
							if err != nil {
								return result.Measured{}, err
							}
							return endToEnd(ds, batch, workers, func(l *loader.Loader) (result.Measured, error) { return fed(l.Epoch(ctx, 0), net) })
						}})
				}
			}
		}
	}
	measure(b, result.EndToEnd, cells)
}

// BenchmarkSimulated is the second study with devices of given speed, which take
// nothing from the processor: batches reach them at 6 GB/s, as page-locked memory
// does over PCIe 3.0, and each costs 1 ms besides. Loading is real.
func BenchmarkSimulated(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(224)), "preprocessed": preprocessed(b, 224)}
	var cells []cell
	for _, data := range []string{"photos", "preprocessed"} {
		for _, speed := range sized([]float64{2000}, []float64{500, 1500, 6000}, []float64{250, 500, 1000, 2000, 4000, 8000, 16000}) {
			for _, batch := range sized([]int{8}, []int{32, 128}, []int{32, 128, 256, 512, 1024}) {
				for _, workers := range sized([]int{2}, []int{1, 2, 4}, []int{1, 2, 4, 8, 12, 16, 32, 48, 64}) {
					device := bench.Device{SamplesPerSecond: speed, PerBatch: time.Millisecond, BytesPerSecond: 6e9}
					config := result.Config{Batch: batch, Workers: workers, Data: data, Model: fmt.Sprintf("%.0f samples per s", speed),
						Help: result.HelpOn, Simulated: "devices, each of its model's speed"}
					ds := repeated(b, of[data], sized(16, 512, 16384))
					cells = append(cells, cell{name: named(config), config: config, report: reportParts,
						run: func(ctx context.Context) (result.Measured, error) {
							return endToEnd(ds, batch, workers, func(l *loader.Loader) (result.Measured, error) { return simulated(ctx, l, device) })
						}})
				}
			}
		}
	}
	measure(b, result.EndToEnd, cells)
}

// endToEnd runs an epoch of a loader that was just made, and sees when its last
// batch was complete.
func endToEnd(ds dataset.Dataset, batch, workers int, run func(*loader.Loader) (result.Measured, error)) (result.Measured, error) {
	var begun time.Time
	var last atomic.Int64
	l, err := loader.New(ds, loader.Workers(workers), loader.BatchSize(batch), loader.Observe(loader.Trace{
		BatchReady: func(loader.BatchInfo, time.Duration) {
			now := int64(time.Since(begun))
			for seen := last.Load(); seen < now && !last.CompareAndSwap(seen, now); seen = last.Load() {
			}
		},
	}))
	if err != nil {
		return result.Measured{}, err
	}
	defer l.Close()
	begun = time.Now()
	m, err := run(l)
	m.LoadingEnd, m.EndToEnd = time.Duration(last.Load()).Seconds(), m.Seconds
	return m, err
}

// fed runs batches through a net and tells the wait for each from its compute.
// Allocations are the VM's too.
func fed(batches iter.Seq2[*loader.Batch, error], net *model.Net) (m result.Measured, err error) {
	err = allocating(&m, func() error {
		begun := time.Now()
		timed := func(yield func(*loader.Batch, error) bool) {
			free := begun
			for batch, err := range batches {
				arrived := time.Now()
				m.Waits = append(m.Waits, arrived.Sub(free).Seconds())
				on := yield(batch, err) // the feed runs the VM
				free = time.Now()
				m.Compute += free.Sub(arrived).Seconds()
				if !on {
					return
				}
			}
		}
		for batch, err := range net.Feed.Run(timed) {
			if err != nil {
				return err
			}
			m.Samples += int64(batch.Len())
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	if err != nil {
		return m, err
	}
	for _, w := range m.Waits {
		m.Waiting += w
	}
	m.FirstBatch = m.Waits[0]
	return m, nil
}

func simulated(ctx context.Context, l *loader.Loader, d bench.Device) (result.Measured, error) {
	var transfer, compute time.Duration
	sample := 0
	for _, f := range l.Spec() {
		sample += f.Bytes()
	}
	m, err := bench.Epoch(ctx, l.Epoch(ctx, 0), func(ctx context.Context, b *loader.Batch) error {
		t, c, err := d.Run(ctx, b, b.Len()*sample)
		transfer, compute = transfer+t, compute+c
		return err
	})
	m.Transfer, m.Compute = transfer.Seconds(), compute.Seconds()
	return m, err
}

func reportParts(b *testing.B, rounds []result.Measured) {
	for _, p := range []struct {
		unit string
		of   func(result.Measured) float64
	}{
		{"waiting-ms", func(m result.Measured) float64 { return m.Waiting }},
		{"transfer-ms", func(m result.Measured) float64 { return m.Transfer }},
		{"compute-ms", func(m result.Measured) float64 { return m.Compute }},
		{"loading-end-ms", func(m result.Measured) float64 { return m.LoadingEnd }},
		{"end-to-end-ms", func(m result.Measured) float64 { return m.EndToEnd }},
	} {
		var values []float64
		for _, m := range rounds {
			values = append(values, 1000*p.of(m))
		}
		b.ReportMetric(median(values), p.unit)
	}
}
