package bench_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// BenchmarkAuto compares loader.Auto with fixed numbers of workers, in loops that have run for two seconds before: benchstat
// -col /workers. With -full it has more loads.
func BenchmarkAuto(b *testing.B) {
	few := []int{1, 2, 4}
	for _, load := range []struct {
		work    string
		batch   int
		body    float64 // samples per second of the loop body; 0 is no limit
		workers []int
		short   bool
	}{
		{"eval", 32, 0, few, true}, {"preprocessed", 64, 0, few, false}, {"cifar100", 64, 0, few, false},
		{"eval", 32, 200, few, false}, {"eval", 32, 1000, few, false}, {"eval", 32, 5000, few, false}, {"slow", 8, 0, []int{32, 128, 256}, true},
	} {
		if !load.short && !*full {
			continue
		}
		for _, workers := range append([]int{loader.Auto}, load.workers...) {
			name := fmt.Sprint(workers)
			if workers == loader.Auto {
				name = "auto"
			}
			b.Run(fmt.Sprintf("load=%s/body=%g/workers=%s", load.work, load.body, name), func(b *testing.B) {
				c := folder(b, bench.Cell{Work: load.work, Size: 224, Samples: 50_000, Config: result.Config{Batch: load.batch, Workers: workers}})
				turns(b, open(b, c), c.Config, load.body)
			})
		}
	}
}

// turns loops over epochs. An iteration is half a second.
func turns(b *testing.B, ds dataset.Dataset, c result.Config, body float64) {
	l := newLoader(b, ds, loader.Workers(c.Workers), loader.BatchSize(c.Batch), loader.Budget(1<<30))
	samples, begun, end := 0, time.Now(), time.Now().Add(2*time.Second)
	warm, timed := false, time.Duration(0)
	for batch, err := range l.Epochs(b.Context(), 0, math.MaxInt32) {
		if err != nil {
			b.Fatal(err)
		}
		if body > 0 {
			if _, err := bench.Simulate(b.Context(), body, batch.Len(), 0); err != nil {
				b.Fatal(err)
			}
		}
		samples += batch.Len()
		if time.Now().Before(end) {
			continue
		}
		if warm {
			timed = time.Since(begun)
		} else {
			samples, begun, warm = 0, time.Now(), true
		}
		if !b.Loop() {
			break
		}
		end = time.Now().Add(time.Second / 2)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(samples)/timed.Seconds(), "samples/s")
	if testing.Verbose() {
		b.Log(l.Stats().Tuning)
	}
}
