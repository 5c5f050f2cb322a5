package presets_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

var picture = flag.String("picture", "../../examples/images/photos/tiles/3.jpg", "file that BenchmarkLatency prepares")

// BenchmarkLatency says how long one picture takes in each model's steps: with nobody else there, and with 50 goroutines
// that prepare pictures at the same time. docs/serving.md has its table.
func BenchmarkLatency(b *testing.B) {
	file, err := os.ReadFile(*picture)
	if err != nil {
		b.Fatal(err)
	}
	all := everyPreset(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
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

// everyPreset are the configurations of testdata/processors.json, all other classes with their defaults, or with the first
// configuration of testdata/pictures.json where there must be one, and the presets of other libraries.
func everyPreset(tb testing.TB) map[string]made {
	all, classes := map[string]made{"OpenCLIP": openclip("{}"), "YOLO": {step: presets.YOLO(640)}}, map[string]bool{"TimmWrapper": true}
	for c, step := range readProcessors(tb).steps() {
		all[c.Name] = step
		var known struct {
			New string `json:"image_processor_type"`
			Old string `json:"feature_extractor_type"`
		}
		if err := json.Unmarshal(c.Config, &known); err != nil {
			tb.Fatal(err)
		}
		classes[strings.TrimSuffix(strings.TrimSuffix(known.New+known.Old, "FeatureExtractor"), "ImageProcessor")] = true
	}
	g, _ := readPictures(tb)
	for _, p := range g.Processors {
		step := hf(`{"image_processor_type": "` + p.Name + `ImageProcessor"}`)
		if classes[p.Name] || strings.Contains(fmt.Sprint(step.err), "is not supported") {
			continue
		}
		if _, err := step.compile(transform.Ragged()); err != nil {
			k := slices.IndexFunc(g.Configurations, func(c goldenPicture) bool { return c.Name == p.Name })
			if k < 0 {
				tb.Fatal(p.Name, ": ", err)
			}
			step = hf(string(g.Configurations[k].Config))
		}
		all[p.Name] = step
	}
	return all
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
			var numbers []int64
			for n := next.Add(1) - 1; n < int64(b.N); n = next.Add(1) - 1 {
				begin := time.Now()
				var err error
				if c.Spec()[0].Ragged {
					values, numbers, err = c.AppendAll(values[:0], numbers[:0], transform.File(file))
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
