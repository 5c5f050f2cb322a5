package dataset_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// BenchmarkCached places samples in random order in a second epoch. It is compared
// with a loop that copies rows of one slice in the same order and does nothing else.
func BenchmarkCached(b *testing.B) {
	for _, size := range []int{3080, 3 * 224 * 224 * 4} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("bytes=%d/workers=%d", size, workers), func(b *testing.B) {
				n := (256 << 20) / size
				spec := dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{size}}}
				plain := make([]byte, n*size)
				for i := range plain {
					plain[i] = byte(i)
				}
				rows := dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
					copy(dataset.Row[uint8](dst, 0), plain[i*size:])
					return nil
				})
				c := cached(b, rows, 1<<30)
				order := rand.New(rand.NewPCG(1, 2)).Perm(n)
				round := func(place func(w, k, i int)) time.Duration {
					begun := time.Now()
					var group sync.WaitGroup
					for w := range workers {
						group.Go(func() {
							for k := w; k < n; k += workers {
								place(w, k, order[k])
							}
						})
					}
					group.Wait()
					return time.Since(begun)
				}
				batch := datatest.NewSlots(64, spec)
				readers := make([]dataset.Reader, workers)
				for w := range readers {
					readers[w] = datatest.Open(b, c)
				}
				ctx := b.Context()
				place := func(w, k, i int) {
					if err := readers[w].Place(ctx, i, batch[k%64]); err != nil {
						b.Error(err)
					}
				}
				copied := func(_, k, i int) { copy(batch[k%64].Cell(0).Bytes(), plain[i*size:][:size]) }
				for i := range n { // in the order in which plain holds them
					place(0, i, i)
				}
				runtime.GC()
				var took, floor time.Duration
				b.ReportAllocs()
				for b.Loop() {
					took += round(place)
					floor += round(copied)
				}
				b.ReportMetric(float64(b.N*n)/took.Seconds(), "samples/s")
				b.ReportMetric(float64(b.N*n)/floor.Seconds(), "copies/s")
				b.ReportMetric(100*floor.Seconds()/took.Seconds(), "%-of-copy")
			})
		}
	}
}
