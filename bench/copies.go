package bench

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
)

// Copies measures what loaders are compared with: each worker copies as many bytes as a batch has, from memory of its own into that of as
// many batches as a loader has in flight, as often as there are batches. A loader may be faster, if what it reads is smaller than a batch.
func (c Cell) Copies(spec dataset.Spec) result.Measured {
	size := 0
	for _, f := range spec {
		size += c.Config.Batch * f.Bytes()
	}
	slabs := make([][]byte, 2*c.Config.Workers+1)
	for k := range slabs {
		slabs[k] = make([]byte, size)
		for i := 0; i < size; i += 512 {
			slabs[k][i] = 1 // so that the system provides the memory before the clock starts
		}
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	begun := time.Now()
	for range c.Config.Workers {
		from := make([]byte, size)
		copy(from, slabs[0])
		workers.Go(func() {
			for k := next.Add(1) - 1; k < int64(c.Samples/c.Config.Batch); k = next.Add(1) - 1 {
				copy(slabs[k%int64(len(slabs))], from)
			}
		})
	}
	workers.Wait()
	return result.Measured{Samples: int64(c.Samples), Seconds: time.Since(begun).Seconds()}
}
