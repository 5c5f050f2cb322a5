package prefetch_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/loader"
)

func newPrefetcher(t testing.TB, s objects.Store, options ...prefetch.Option) *prefetch.Prefetcher {
	t.Helper()
	p, err := prefetch.New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The claim that the package is made for, with the time of the bubble: 4 workers that
// take 1.2 ms per sample make 3,333 samples/s, if nothing else takes time.
func TestLatencyCostsLessThanFivePercent(t *testing.T) {
	const n, cost, workers = 10_000, 1200 * time.Microsecond, 4
	const local = n * cost / workers
	for _, c := range []struct {
		epochs int
		memory int64
	}{{1, 256 << 20}, {3, 1_000_000}} {
		epochs := c.epochs
		synctest.Test(t, func(t *testing.T) {
			s := newFar(n, 1000)
			p := newPrefetcher(t, s, prefetch.MaxBytes(c.memory))
			got := run(t, costly(t, images(t, p), cost), epochs, loader.Workers(workers), loader.BatchSize(64))
			all, most := s.total()
			t.Logf("%d epochs in %v, without latency %v; %d requests, at most %d at once; %v", epochs, got.took, time.Duration(epochs)*local, all, s.most, p.Stats())
			if limit := time.Duration(epochs) * local * 100 / 95; got.took > limit {
				t.Errorf("%d epochs took %v, want %v at most", epochs, got.took, limit)
			}
			if all > epochs*n+1 || most > epochs || s.bytes > int64(epochs*n*1000)*102/100 {
				t.Errorf("%d requests, %d for one object, %d bytes", all, most, s.bytes)
			}
			if stats := p.Stats(); stats.Direct > n/100 || stats.Unread > 0 || stats.Held > 0 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

// Without being told the future, the workers wait for the store.
func TestWithoutForesightLatencyCostsMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(500, 1000)
		got := run(t, costly(t, images(t, s), 1200*time.Microsecond), 1, loader.Workers(4), loader.BatchSize(64))
		if got.took < 3*time.Second { // 0.15 s without latency
			t.Errorf("took %v: the comparison is not fair", got.took)
		}
	})
}

// In the long run there are as many requests at once as the rate times the latency.
func TestRequestsAtOnceFollowLittlesLaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(20_000, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(1000_000), prefetch.Requests(1000)) // 1000 blocks
		var sum, count int
		done := make(chan struct{})
		go func() {
			time.Sleep(2 * time.Second) // until the memory is full
			for {
				select {
				case <-done:
					return
				case <-time.After(10 * time.Millisecond):
					sum += p.Stats().Requests
					count++
					if held := p.Stats().Held; held > 1000_000 {
						t.Errorf("%d bytes are held", held)
					}
				}
			}
		}()
		run(t, costly(t, images(t, p), 1200*time.Microsecond), 1, loader.Workers(4), loader.BatchSize(64))
		close(done)
		const want = 3333 * 0.0314 // samples/s times the mean latency in s
		if got := float64(sum) / float64(count); got < 0.7*want || got > 1.3*want {
			t.Errorf("%.1f requests at once, want about %.0f", got, want)
		}
	})
}

func TestSlowRequestsHardlyDelayBatches(t *testing.T) {
	p99 := func(slow float64) (p99 time.Duration, stats objects.Stats) {
		synctest.Test(t, func(t *testing.T) {
			s := newFar(10_000, 1000)
			s.slow = slow
			client, err := objects.NewClient(remote{s})
			if err != nil {
				t.Fatal(err)
			}
			p := newPrefetcher(t, client)
			got := run(t, costly(t, images(t, p), 1200*time.Microsecond), 1, loader.Workers(4), loader.BatchSize(64))
			t.Logf("%v slow: took %v, waits: p50 %v, p99 %v; %v", slow, got.took, quantile(got.waits, 0.5), quantile(got.waits, 0.99), p.Stats())
			p99, stats = quantile(got.waits, 0.99), client.Stats()
		})
		return p99, stats
	}
	none, _ := p99(0)
	some, stats := p99(0.01)
	if some > 2*none {
		t.Errorf("p99 of waits is %v with 1 %% of slow requests, and %v without", some, none)
	}
	if stats.Requests > 10_000*105/100+1 { // with the listing
		t.Errorf("%d requests", stats.Requests)
	}
}

// remote is a far store as a Remote.
type remote struct{ *far }

func (r remote) List(ctx context.Context, prefix, _ string) iter.Seq2[objects.Object, error] {
	return r.far.List(ctx, prefix)
}

func (r remote) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, objects.Object, error) {
	data := make([]byte, n)
	if err := r.far.ReadAt(ctx, o, data, off); err != nil {
		return nil, o, err
	}
	return io.NopCloser(bytes.NewReader(data)), o, nil
}

func TestFailedRequestsAreSentAgainByTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(300, 1000)
		s.broken = map[string]int{s.object(7).Name: 1, s.object(80).Name: 1, s.object(299).Name: 1}
		p := newPrefetcher(t, s)
		run(t, images(t, p), 1, loader.BatchSize(8))
		if all, most := s.total(); all != 303 || most != 2 {
			t.Errorf("%d requests, at most %d for an object", all, most)
		}
		s.broken = map[string]int{s.object(7).Name: 1000}
		l, err := loader.New(images(t, p), loader.BatchSize(10))
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			last = err
		}
		if !errors.Is(last, errFar) {
			t.Errorf("got error %v", last)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := p.Stats(); got.Held != 0 || got.Requests != 0 {
			t.Errorf("after the loop: %+v", got)
		}
	})
}

// A block that a reader had to read itself is fetched in advance again in the next epoch.
func TestDirectReadsDoNotStayDirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(10, 1000)
		s.broken = map[string]int{s.object(3).Name: 1}
		p := newPrefetcher(t, s)
		defer p.Foresee(future{}, filesOf(s))() // so that there is always an epoch
		for epoch := range 3 {
			f := &moving{batches: [][]int{{3}}}
			stop := p.Foresee(f, filesOf(s))
			time.Sleep(time.Second)
			f.begun.Store(1)
			o := s.object(3)
			if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
				t.Error(err)
			}
			stop()
			if got := p.Stats(); got.Direct != 1 || got.Ready != int64(epoch) {
				t.Errorf("epoch %d: %v", epoch, got)
			}
		}
	})
}

// The bubble fails if a goroutine is left.
func TestLoopThatEndsEarlyLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(3000, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(200_000))
		ds := images(t, p)
		for _, after := range []int{1, 5, 40} {
			l, err := loader.New(ds, loader.BatchSize(32), loader.Shuffle(true))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			begin := time.Now()
			for _, err := range l.Epochs(t.Context(), 0, 5) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == after {
					begin = time.Now()
					break
				}
			}
			if took := time.Since(begin); took > 0 {
				t.Errorf("the end of the loop took %v, want it at once", took)
			}
			if got := p.Stats(); got.Held != 0 || got.Requests != 0 {
				t.Errorf("after %d batches: %+v", after, got)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestReaderThatIsCancelledDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(10, 1000)
		s.slow = 1
		p := newPrefetcher(t, s)
		stop := p.Foresee(future{{0, 1, 2}}, filesOf(s))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		o := s.object(1)
		if err := p.ReadAt(ctx, o, make([]byte, o.Size), 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v", err)
		}
		stop()
		if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
			t.Error(err)
		}
		if got := p.Stats(); got.Held != 0 || got.Late != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// A future is the batches of an epoch that has not begun.
type future [][]int

func (f future) Len() int                      { return len(f) }
func (f future) At(batch int, dst []int) []int { return append(dst, f[batch]...) }
func (f future) Begun() int                    { return 0 }
func (f future) Done() int                     { return 0 }

// filesOf has a block per object.
func filesOf(s *far) objects.Blocks {
	return objects.Blocks{
		Len: s.objects,
		Of:  func(sample int) int { return sample },
		At: func(block int, dst []objects.Block) []objects.Block {
			return append(dst, objects.Block{Object: s.object(block), Len: int64(s.size)})
		},
	}
}

func TestFirstBlocksAreRequestedInTheOrderOfTheBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(100, 1000)
		p := newPrefetcher(t, s, prefetch.Requests(1))
		stop := p.Foresee(future{{3, 1}, {-1, 100, 4}, {1, 5}}, filesOf(s))
		time.Sleep(time.Second)
		if got := s.asked(); got != "3 1 4 5" {
			t.Errorf("requested %v", got)
		}
		for range 2 { // because two batches have the sample
			o := s.object(1)
			if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
				t.Error(err)
			}
		}
		if got := p.Stats(); got.Ready != 2 || got.Fetched != 4 || got.Held != 3000 {
			t.Errorf("%+v", got)
		}
		stop()
	})
}

func TestBlocksOnDiskAreNotFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		s := newFar(n, 1000)
		c, err := cache.New(s, t.TempDir(), n*1004/2, cache.BlockSize(1000))
		if err != nil {
			t.Fatal(err)
		}
		p := newPrefetcher(t, c)
		for epoch := range 3 {
			before, _ := s.total()
			run(t, images(t, p), 1, loader.Workers(4), loader.BatchSize(32))
			after, _ := s.total()
			if want := n / (1 + min(epoch, 1)); after-before > want+n/100 || after-before < want-n/100 {
				t.Errorf("epoch %d: %d requests, want about %d", epoch, after-before, want)
			}
		}
		if got := p.Stats(); got.Local < n*9/10 || got.Unread != 0 {
			t.Errorf("%v", got)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A counting store has nothing on its disk, and counts how often that is asked.
type counting struct {
	*far
	looked atomic.Int64
}

func (*counting) Forget(objects.Object, int64, int64) {}

func (c *counting) Has(objects.Object, int64, int64) bool {
	c.looked.Add(1)
	return false
}

func TestBlocksInMemoryAreNotLookedForOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counting{far: newFar(10, 1000)}
		p := newPrefetcher(t, s)
		stop := p.Foresee(future{{0, 1}, {2, 3}}, filesOf(s.far))
		defer stop()
		time.Sleep(time.Second)
		before := s.looked.Load()
		for i := range 5 {
			o := s.object(i)
			if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
				t.Error(err)
			}
		}
		if got := p.Stats(); got.Ready != 4 || got.Direct != 1 || s.looked.Load() != before {
			t.Errorf("%d looks at the disk, want none; %v", s.looked.Load()-before, got)
		}
	})
}

// While the body of a loop runs another loop over the same store, such as validation, that
// one is fetched in advance too.
func TestTwoLoopsAtOnceBothHaveAFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(2000, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(300_000))
		ds := costly(t, images(t, p), time.Millisecond)
		l, err := loader.New(ds, loader.BatchSize(50), loader.Workers(4))
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if k++; k == 10 {
				time.Sleep(time.Second)
				got := run(t, ds, 1, loader.BatchSize(50), loader.Workers(4)) // 0.5 s without latency
				if got.took > 650*time.Millisecond {
					t.Errorf("the loop in the loop took %v", got.took)
				}
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := p.Stats(); got.Held != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestOptionsSayWhatIsWrong(t *testing.T) {
	_, err := prefetch.New(newFar(1, 1), prefetch.MaxBytes(0), prefetch.Requests(-1))
	const want = "prefetch: MaxBytes(0): want 1 or more\nprefetch: Requests(-1): want 1 or more"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestBlocksLargerThanTheMemoryAreReadDirectly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(20, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(999))
		run(t, images(t, p), 1, loader.BatchSize(3))
		if all, most := s.total(); all != 20 || most != 1 || p.Stats().Direct != 20 || p.Identity() != "far" {
			t.Errorf("%d requests, %v", all, p.Stats())
		}
	})
}

// TestBlocksOfSeveralRangesAreFetchedWhole has blocks of two ranges, of which all share the
// second one. It waits in the middle of a block, because only five ranges fit.
func TestBlocksOfSeveralRangesAreFetchedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(7, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(5000))
		shared := objects.Block{Object: s.object(6), Len: 1000}
		blocks := objects.Blocks{
			Len: 6,
			Of:  func(sample int) int { return sample / 10 },
			At: func(block int, dst []objects.Block) []objects.Block {
				return append(dst, objects.Block{Object: s.object(block), Len: 1000}, shared)
			},
			Once: true,
		}
		f := &moving{batches: [][]int{{0, 10, 20, 1, 30, 40, 50, 59}}}
		stop := p.Foresee(f, blocks)
		f.begun.Store(1)
		data := make([]byte, 1000)
		for block := range 6 {
			time.Sleep(time.Second)
			for _, b := range blocks.At(block, nil) {
				if err := p.ReadAt(t.Context(), b.Object, data, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		stop()
		all, most := s.total()
		if got := p.Stats(); got.Direct != 0 || got.Unread != 0 || got.Held != 0 {
			t.Errorf("%+v, want all reads from memory", got)
		}
		if all != 7 || most != 1 {
			t.Errorf("%d requests, %d for one object, want 7, and one for each", all, most)
		}
	})
}
