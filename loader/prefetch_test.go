package loader_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// A far store answers after a random time: lognormal, with a median of 30 ms.
type far struct {
	objects int

	mu       sync.Mutex
	r        *rand.Rand
	requests map[string]int // by object
}

func (s *far) Identity() string { return "far" }

func (s *far) List(context.Context, string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for i := range s.objects {
			if !yield(objects.Object{Name: fmt.Sprintf("class/%06d.jpg", i), Size: 1000, Version: "1"}, nil) {
				return
			}
		}
	}
}

func (s *far) Stat(context.Context, string) (objects.Object, error) {
	return objects.Object{}, errors.ErrUnsupported
}

func (s *far) ReadAt(_ context.Context, o objects.Object, _ []byte, _ int64) error {
	s.mu.Lock()
	s.requests[o.Name]++
	d := 30 * math.Exp(0.3*s.r.NormFloat64()) * float64(ms)
	s.mu.Unlock()
	time.Sleep(time.Duration(d))
	return nil
}

// TestAutoHasFewWorkersWithForesight: it leaves the waiting to the prefetcher, and no block is read
// twice. Without foresight it has many.
func TestAutoHasFewWorkersWithForesight(t *testing.T) {
	onTwoProcessors(t)
	const n, cost, batch = 10_000, 1200 * us, 64
	local := n * cost / time.Duration(runtime.GOMAXPROCS(0))
	synctest.Test(t, func(t *testing.T) {
		// run loops over an epoch. It returns the greatest number of workers in its second half.
		run := func(s *far, store objects.Store) (took time.Duration, most int) {
			fsys, err := objects.NewFS(t.Context(), store, "")
			if err != nil {
				t.Fatal(err)
			}
			photos, err := dataset.ImageFolder(fsys)
			if err != nil {
				t.Fatal(err)
			}
			var used atomic.Int64
			processors := make(chan bool, runtime.GOMAXPROCS(0))
			ds, err := dataset.Map(photos, photos.Spec(), func(_, _ dataset.Slot) error {
				processors <- true
				time.Sleep(cost)
				used.Add(int64(cost))
				<-processors
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			l := loadertest.New(t, ds, loader.Workers(loader.Auto), loader.BatchSize(batch), loader.Shuffle(true),
				loader.ProcessTime(func() (time.Duration, bool) { return time.Duration(used.Load()), true }))
			begun := time.Now()
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Number() > n/batch/2 {
					most = max(most, l.Stats().Workers)
				}
			}
			return time.Since(begun), most
		}
		s := &far{objects: n, r: rand.New(rand.NewPCG(1, 2)), requests: map[string]int{}}
		ahead, err := prefetch.New(s)
		if err != nil {
			t.Fatal(err)
		}
		took, with := run(s, ahead)
		requests := 0
		for name, k := range s.requests {
			if requests += k; k > 1 {
				t.Errorf("%d requests for %s", k, name)
			}
		}
		if limit := local * 100 / 95; took > limit || requests > n+1 {
			t.Errorf("an epoch took %v, want %v at most; %d requests", took, limit, requests)
		}
		_, without := run(s, s)
		if with > 4*runtime.GOMAXPROCS(0) || without < 4*with {
			t.Errorf("up to %d workers with foresight, %d without", with, without)
		}
	})
}
