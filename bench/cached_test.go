package bench_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// BenchmarkCached loads preprocessed items from a cache that was filled by an
// epoch before, and, in turn, has as many goroutines copy rows of the same size
// from one slice in the same order, and nothing else.
func BenchmarkCached(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			cached := fullCache(b, randomItems())
			l := newLoader(b, cached, loader.Workers(workers), loader.BatchSize(16))
			size := item[0].Bytes()
			slabs := make([]byte, l.Stats().SlabBytes)
			from := make([]byte, items*size)
			for _, memory := range [][]byte{slabs, from} {
				for i := range memory {
					memory[i] = 1
				}
			}
			rows := len(slabs) / size
			n := 0
			compare(b, items,
				side{"loader", func() time.Duration { n++; return epoch(b, l, n) }},
				side{"copy", func() time.Duration {
					begun := time.Now()
					var next atomic.Int64
					var group sync.WaitGroup
					for range workers {
						group.Go(func() {
							for i := int(next.Add(1)) - 1; i < items; i = int(next.Add(1)) - 1 {
								copy(slabs[i%rows*size:][:size], from[i*size:])
							}
						})
					}
					group.Wait()
					return time.Since(begun)
				}})
		})
	}
}

// fullCache is a cache of all of ds.
func fullCache(b *testing.B, ds dataset.Dataset) *dataset.Cache {
	b.Helper()
	cached, err := dataset.Cached(ds, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	l := newLoader(b, cached, loader.BatchSize(16))
	epoch(b, l, 0)
	if s := cached.Stats(); s.Samples != int64(ds.Len()) {
		b.Fatalf("%d of %d samples are kept", s.Samples, ds.Len())
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	return cached
}

// BenchmarkCachedPhotos loads photos with the evaluation preset: decoded in every
// epoch, and in a second epoch over a cache of what the preset makes of them.
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
