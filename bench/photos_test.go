package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// BenchmarkPhotos loads JPEG photos with the evaluation preset. The time to the
// first batch is from the beginning of the loop.
func BenchmarkPhotos(b *testing.B) {
	ds := repeated(b, photos(b, transform.Eval(224)), sized(128, 512, 512))
	for _, workers := range []int{0, 1, 2, 4} {
		for _, help := range []bool{true, false} {
			if workers < 2 && !help {
				continue // Help needs a second worker
			}
			b.Run(fmt.Sprintf("workers=%d/help=%v", workers, help), func(b *testing.B) {
				l := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(32), loader.Help(help))
				var firsts []time.Duration
				n := 0
				compare(b, ds.Len(), side{"images", func() time.Duration {
					n++
					took := epoch(b, l, n)
					firsts = append(firsts, l.Stats().FirstWait)
					return took
				}})
				b.ReportMetric(median(firsts).Seconds()*1000, "ms-to-first-batch")
			})
		}
	}
}

// BenchmarkInFlight compares many workers that share three slabs with workers that each
// assemble batches of their own.
func BenchmarkInFlight(b *testing.B) {
	ds := repeated(b, photos(b, transform.Eval(224)), sized(128, 512, 512))
	for _, workers := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			three := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(16), loader.InFlight(3))
			whole := newLoader(b, ds, loader.Workers(workers), loader.BatchSize(16))
			n := 0
			compare(b, ds.Len(),
				side{"three-slabs", func() time.Duration { n++; return epoch(b, three, n) }},
				side{"whole-batches", func() time.Duration { return epoch(b, whole, n) }})
		})
	}
}

// BenchmarkCachedPhotos compares photos that are decoded in every epoch with a second epoch
// over a cache of the evaluation preset's results.
func BenchmarkCachedPhotos(b *testing.B) {
	ds := photos(b, transform.Eval(224))
	if ds.Len() > 1000 {
		b.Skip("the cache is for at most a thousand photos")
	}
	plain := newLoader(b, ds, loader.Workers(2), loader.BatchSize(16))
	cached := newLoader(b, fullCache(b, ds), loader.Workers(2), loader.BatchSize(16))
	n := 0
	compare(b, ds.Len(),
		side{"cached", func() time.Duration { n++; return epoch(b, cached, n) }},
		side{"decoded", func() time.Duration { return epoch(b, plain, n) }})
}
