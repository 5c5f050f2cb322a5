package presets_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/transform"
)

var picture = flag.String("picture", "../../examples/images/photos/tiles/3.jpg", "file that BenchmarkLatency prepares")

// BenchmarkLatency says how long one picture takes in each model's steps: with nobody else there, and with 50 goroutines
// that prepare pictures at the same time. docs/serving.md has its table.
func BenchmarkLatency(b *testing.B) {
	file, err := os.ReadFile(*picture)
	if err != nil {
		b.Fatal(err)
	}
	g := readProcessors(b)
	all := map[string]made{}
	var names []string
	for c, step := range g.steps() {
		names = append(names, c.Name)
		all[c.Name] = step
	}
	slices.Sort(names)
	for _, name := range names {
		c, err := all[name].compile()
		if err != nil {
			c, err = all[name].compile(transform.Ragged())
		}
		if err != nil {
			b.Fatal(name, ": ", err)
		}
		b.Run(strings.ReplaceAll(name, ", ", ","), func(b *testing.B) {
			latencies(b, c, file, 50) // and its memory grows
			p50, p99 := latencies(b, c, file, 1)
			b.ResetTimer()
			many50, many99 := latencies(b, c, file, 50)
			b.ReportMetric(p50, "p50-ms")
			b.ReportMetric(p99, "p99-ms")
			b.ReportMetric(many50, "p50-of-50-ms")
			b.ReportMetric(many99, "p99-of-50-ms")
		})
	}
}

// latencies prepares b.N pictures, one or more, by that many goroutines, and returns the median and the 99th percentile
// of the milliseconds that one takes, with the wait for its turn.
func latencies(b *testing.B, c *transform.Compiled, file []byte, goroutines int) (p50, p99 float64) {
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			out := make([]byte, c.Spec()[0].Bytes())
			var values []float32
			for n := next.Add(1) - 1; n < int64(b.N); n = next.Add(1) - 1 {
				begin := time.Now()
				var err error
				if c.Spec()[0].Ragged {
					values, _, _, err = c.Append(values[:0], transform.File(file))
				} else {
					err = c.IntoBytes(out, transform.File(file))
				}
				if err != nil {
					b.Error(err)
					return
				}
				took[n] = time.Since(begin)
			}
		})
	}
	wait.Wait()
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(b.N-1))]) / float64(time.Millisecond)
	}
	return at(0.5), at(0.99)
}
