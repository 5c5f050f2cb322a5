package prefetch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// moving is a future whose loop makes progress.
type moving struct {
	batches     [][]int
	begun, done atomic.Int64
}

func (f *moving) Len() int                      { return len(f.batches) }
func (f *moving) At(batch int, dst []int) []int { return append(dst, f.batches[batch]...) }
func (f *moving) Begun() int                    { return int(f.begun.Load()) }
func (f *moving) Done() int                     { return int(f.done.Load()) }

// Loops with random batches begin, read, fail, skip and end at random times, over one store
// whose requests sometimes fail. All bytes are right, and nothing is left.
func TestStormOfLoops(t *testing.T) {
	const count = 60
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := newFar(count, 100)
			s.slow, s.broken = 0.05, map[string]int{}
			for i := range count {
				if r.IntN(5) == 0 {
					s.broken[s.object(i).Name] = r.IntN(4)
				}
			}
			p := newPrefetcher(t, s, prefetch.MaxBytes(int64(100+r.IntN(3000))), prefetch.Requests(1+r.IntN(40)))
			once := r.IntN(2) == 0
			of := filesOf(s)
			of.Once = once
			var group sync.WaitGroup
			for range 1 + r.IntN(4) {
				own := rand.New(rand.NewPCG(r.Uint64(), 2))
				group.Go(func() {
					for range 3 {
						stormLoop(t, own, p, s, of)
					}
				})
			}
			group.Wait()
			if got := p.Stats(); got.Held != 0 || got.Requests != 0 {
				t.Errorf("seed %d: %+v", seed, got)
			}
		})
	}
}

// stormLoop is one loop over one epoch.
func stormLoop(t *testing.T, r *rand.Rand, p *prefetch.Prefetcher, s *far, of objects.Blocks) {
	f := &moving{}
	order := r.Perm(s.objects)
	for len(order) > 0 {
		n := min(1+r.IntN(8), len(order))
		f.batches = append(f.batches, order[:n:n])
		order = order[n:]
	}
	if r.IntN(3) == 0 { // some samples again
		f.batches = append(f.batches, f.batches[:len(f.batches)/2]...)
	}
	stop := p.Foresee(f, of)
	defer stop()
	for k, batch := range f.batches {
		f.begun.Store(int64(k + 1))
		for _, i := range batch {
			if r.IntN(10) > 0 {
				stormRead(t, r, p, s, i)
			}
		}
		if r.IntN(40) == 0 {
			return
		}
		f.done.Store(int64(k + 1))
	}
}

func stormRead(t *testing.T, r *rand.Rand, p *prefetch.Prefetcher, s *far, i int) {
	ctx := t.Context()
	if r.IntN(10) == 0 {
		short, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(30))*time.Millisecond)
		defer cancel()
		ctx = short
	}
	o := s.object(i)
	data := make([]byte, o.Size)
	switch err := p.ReadAt(ctx, o, data, 0); {
	case errors.Is(err, errFar) || errors.Is(err, context.DeadlineExceeded):
	case err != nil:
		t.Error(err)
	case string(data[:6]) != fmt.Sprintf("%06d", i) || string(data[94:]) != string(data[4:6])+string(data[:4]):
		t.Errorf("object %d: %s", i, data)
	}
}
