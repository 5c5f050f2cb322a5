package objects_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// A slow service answers after a random time: lognormal, with a median of 30 ms. A
// hundredth of the answers, or another share, takes 20 times as long.
type slow struct {
	mu     sync.Mutex
	r      *rand.Rand
	share  float64             // of the answers that take long
	factor float64             // of all times
	spread float64             // of the times' logarithms
	busy   func(n int) float64 // if not nil, a factor by the number of requests in flight
	flying int
}

func newSlow(share float64) *slow {
	return &slow{r: rand.New(rand.NewPCG(1, 2)), share: share, factor: 1, spread: 0.3}
}

func (s *slow) List(context.Context, string, string) iter.Seq2[objects.Object, error] {
	return func(func(objects.Object, error) bool) {}
}

func (*slow) Identity() string { return "" }

func (s *slow) Get(ctx context.Context, o objects.Object, _, n int64) (io.ReadCloser, objects.Object, error) {
	s.mu.Lock()
	s.flying++
	d := 0.030 * s.factor * math.Exp(s.spread*s.r.NormFloat64())
	if s.r.Float64() < s.share {
		d *= 20
	}
	if s.busy != nil {
		d *= s.busy(s.flying)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.flying--
		s.mu.Unlock()
	}()
	timer := time.NewTimer(time.Duration(d * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return io.NopCloser(bytes.NewReader(make([]byte, n))), o, nil
	case <-ctx.Done():
		return nil, o, ctx.Err()
	}
}

// load reads n times, 16 at once, and returns how long each read took.
func (s *slow) load(t testing.TB, n int, hedge float64) ([]time.Duration, objects.Stats) {
	c, err := objects.NewClient(s, objects.Hedge(hedge))
	if err != nil {
		t.Fatal(err)
	}
	took := make([]time.Duration, n)
	var group sync.WaitGroup
	for w := range 16 {
		group.Go(func() {
			p := make([]byte, 8)
			for i := w; i < n; i += 16 {
				begin := time.Now()
				if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: 8, Version: "1"}, p, 0); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(begin)
			}
		})
	}
	group.Wait()
	return took, c.Stats()
}

func quantile(took []time.Duration, part float64) time.Duration {
	took = slices.Sorted(slices.Values(took))
	return took[min(int(part*float64(len(took))), len(took)-1)]
}

// The claim that the defaults are made for, with the time of the bubble.
func TestHedgingHidesSlowAnswers(t *testing.T) {
	const n = 8_000
	synctest.Test(t, func(t *testing.T) {
		for _, spread := range []float64{0.1, 0.3, 0.5} {
			even, odd := newSlow(0), newSlow(0.01)
			even.spread, odd.spread = spread, spread
			none, _ := even.load(t, n, 0.05)
			plain, _ := odd.load(t, n, 0)
			hedged, stats := odd.load(t, n, 0.05)
			t.Logf("spread %v: p50 %v, p99 %v with no slow answers; p99 %v with 1 %%, %v hedged (p99.9 %v, without %v); %d hedges, %d won", spread,
				quantile(none, 0.5), quantile(none, 0.99), quantile(plain, 0.99), quantile(hedged, 0.99), quantile(hedged, 0.999), quantile(plain, 0.999), stats.Hedges, stats.HedgesWon)
			if got, want := quantile(hedged, 0.99), 2*quantile(none, 0.99); got > want {
				t.Errorf("spread %v: p99 %v, want %v at most", spread, got, want)
			}
			if stats.Requests != n+stats.Hedges || stats.Hedges > n/20 {
				t.Errorf("spread %v: %d requests for %d reads, want 5 %% more at most", spread, stats.Requests, n)
			}
		}
	})
}

// A service that gets slower with every request is left alone while it slows down.
func TestNothingIsHedgedWhileTheMedianRises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(0)
		c, err := objects.NewClient(s)
		if err != nil {
			t.Fatal(err)
		}
		read := func(n int) {
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					p := make([]byte, 8)
					for range n / 8 {
						if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: 8, Version: "1"}, p, 0); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
		}
		read(1000)
		before := c.Stats().Hedges
		if before < 10 {
			t.Errorf("%d hedges of 1000 reads, want some", before)
		}
		s.factor = 3
		read(64) // until the median of the latest has risen
		begin := c.Stats().Hedges
		read(200)
		if n := c.Stats().Hedges - begin; n > 0 {
			t.Errorf("%d hedges while the median is 3 times what it was", n)
		}
		read(4000) // the new median is what is usual now
		if n := c.Stats().Hedges - begin; n < 10 {
			t.Errorf("%d hedges after 4000 reads at the new speed, want some", n)
		}
	})
}

// A onceOnly remote cannot answer two requests at once.
type onceOnly struct {
	*slow
	flying atomic.Int64
}

func (*onceOnly) Identity() string { return "" }

func (s *onceOnly) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, objects.Object, error) {
	defer s.flying.Add(-1)
	if s.flying.Add(1) > 1 {
		panic("two requests at once")
	}
	return s.slow.Get(ctx, o, off, n)
}

// The second request runs in a goroutine of the client, where a panic would end the program.
func TestAPanicInAHedgeIsOneOfTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := objects.NewClient(&onceOnly{slow: newSlow(0.05)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if e, ok := recover().(*dataset.PanicError); !ok || e.Value != "two requests at once" {
				t.Errorf("after %+v: recovered %v, want the panic of the remote", c.Stats(), e)
			}
		}()
		for range 1000 {
			if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: 8, Version: "1"}, make([]byte, 8), 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A hedge reads the same bytes, and its loser leaves no goroutine and no body.
func TestHedgesReadTheSameBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		s := store(t, h)
		for range 64 {
			if got := read(t.Context(), s, object, 0, 10); got != text[:10] {
				t.Fatal(got)
			}
		}
		for i := range 20 {
			h.next(stall(i % 2 * 5))
			if i%2 == 1 {
				h.next(stall(0), part(3))
			}
			if got := read(t.Context(), s, object, 20, 10); got != text[20:30] {
				t.Errorf("read %d: got %q", i, got)
			}
		}
		if s.Stats().HedgesWon == 0 {
			t.Error("no hedge has won")
		}
	})
}

// The usual requests of the host take no time, so the second one is sent after the least
// delay. Without it, the first one ends after the time of Silence.
func TestARequestWithoutAnswerIsSentAgain(t *testing.T) {
	for hedge, want := range map[float64]time.Duration{1: time.Millisecond, 0: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := letters()
			s := client(t, "http://host/data/", []objects.HTTPOption{objects.HTTPClient(serve(t, h))}, objects.Hedge(hedge))
			for range 32 {
				if got := read(t.Context(), s, object, 0, 10); got != text[:10] {
					t.Fatal(got)
				}
			}
			var freed []time.Duration
			h.next(func(_ http.ResponseWriter, r *http.Request, _ []byte) {
				begun := time.Now()
				<-r.Context().Done()
				freed = append(freed, time.Since(begun))
			})
			before := len(h.seen)
			begun := time.Now()
			if got := read(t.Context(), s, object, 20, 10); got != text[20:30] {
				t.Errorf("got %q", got)
			}
			took := time.Since(begun)
			synctest.Wait()
			if most := want + 100*time.Millisecond*time.Duration(1-hedge); took < want || took > most { // with the pause before the next attempt
				t.Errorf("Hedge(%v): the read took %v, want %v to %v", hedge, took, want, most)
			}
			if !slices.Equal(freed, []time.Duration{want}) {
				t.Errorf("Hedge(%v): the first request ended after %v, want %v", hedge, freed, want)
			}
			if n := len(h.seen) - before; n != 2 {
				t.Errorf("Hedge(%v): %d requests, want 2", hedge, n)
			}
			if stats := s.Stats(); stats.Hedges != int64(hedge) || stats.HedgesWon != int64(hedge) {
				t.Errorf("Hedge(%v): %+v", hedge, stats)
			}
		})
	}
}

// BenchmarkHedging reads from a service whose answers take 3 ms (lognormal), and 60 ms
// for one in a hundred.
func BenchmarkHedging(b *testing.B) {
	for _, c := range []struct {
		name         string
		share, hedge float64
	}{{"noneslow", 0, 0.05}, {"slow", 0.01, 0}, {"slow/hedged", 0.01, 0.05}} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			var stats objects.Stats
			for b.Loop() {
				s := newSlow(c.share)
				s.factor = 0.1
				took, stats = s.load(b, 4000, c.hedge)
			}
			b.ReportMetric(quantile(took, 0.5).Seconds()*1e3, "p50-ms")
			b.ReportMetric(quantile(took, 0.99).Seconds()*1e3, "p99-ms")
			b.ReportMetric(float64(stats.Requests)/float64(len(took)), "requests/read")
		})
	}
}

func TestHedgesStayWithinTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		if _, stats := newSlow(0.04).load(t, n, 0.01); stats.Hedges > n/100 || stats.Hedges < n/200 {
			t.Errorf("%d hedges for %d reads, want about 1 %%, and no more", stats.Hedges, n)
		}
	})
}
