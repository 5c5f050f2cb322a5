package loader_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
)

// chance is random numbers of every sample. They do not depend on the order in which workers
// place the samples, which is not the same in every run, not even in simulated time.
func chance(seed uint64, i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(i))) }

// varied are reads that take d on average, and differ by up to half of that.
func varied(d time.Duration, seed uint64) func(time.Duration, int) time.Duration {
	return func(_ time.Duration, i int) time.Duration {
		return d/2 + time.Duration(chance(seed, i).Float64()*float64(d))
	}
}

// served are reads from a storage that serves n at once. Others wait.
func served(n int, d time.Duration) func(time.Duration, int) time.Duration {
	var mu sync.Mutex
	free := make([]time.Duration, n) // from when each of them is
	return func(at time.Duration, _ int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		k := slices.Index(free, slices.Min(free))
		free[k] = max(free[k], at) + d
		return free[k] - at
	}
}

// between is a random number between two, whose logarithm is uniform.
func between(a, b float64, r *rand.Rand) float64 {
	return math.Exp(math.Log(a) + r.Float64()*math.Log(b/a))
}

// TestAutoFindsTheWorkersForSlowReadsWithinTwoSeconds on random loads.
func TestAutoFindsTheWorkersForSlowReadsWithinTwoSeconds(t *testing.T) {
	testenv.Slow(t)
	onTwoProcessors(t)
	seeds := 40
	if testing.Short() {
		seeds = 4 // it takes long with the race detector
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 11))
		compute := time.Duration(between(0.1e6, 3e6, r))
		read := time.Duration(between(10*float64(compute), 300e6, r))
		s := simulation{batch: []int{1, 4, 8, 32}[r.IntN(4)], read: varied(read, seed), compute: compute, stages: true}
		best := min(float64(runtime.GOMAXPROCS(0))/compute.Seconds(), 256/(read+compute).Seconds())
		settles := 2*time.Second + 8*read // the first two samples, two leaps, and batches that were begun before
		got := s.run(t, settles, settles+6*time.Second, loader.Workers(loader.Auto), loader.Budget(1<<30))
		name := fmt.Sprintf("seed %d: batches of %d, %v and %v", seed, s.batch, read, compute)
		if got.settled < 0.88*best {
			t.Errorf("%s: %.3f of %.0f samples/s, want 0.88", name, got.settled/best, best)
			got.tell(t)
		}
		if n := got.changes; n > 10 {
			t.Errorf("%s: %d changes of the number of workers, want 10 at most", name, n)
		}
		t.Logf("%s: %.3f of %.0f, %v", name, got.settled/best, best, got.stats.Tuning)
	}
}

// TestAutoGivesBackWhatStorageDoesNotServe at once.
func TestAutoGivesBackWhatStorageDoesNotServe(t *testing.T) {
	onTwoProcessors(t)
	for _, n := range []int{3, 8, 20, 60} {
		if testing.Short() && n != 8 {
			continue // it takes long with the race detector
		}
		s := simulation{batch: 16, read: served(n, 20*ms), compute: ms / 2, stages: true}
		best := float64(n) / (20 * ms).Seconds()
		got := s.run(t, 10*time.Second, 25*time.Second, loader.Workers(loader.Auto), loader.Budget(1<<30))
		if got.settled < 0.95*best {
			t.Errorf("%d reads at once: %.3f of %.0f samples/s, want 0.95", n, got.settled/best, best)
		}
		if w := got.usual; w > 2*n || w < n {
			t.Errorf("%d reads at once: usually %d workers, want %d to %d", n, w, n, 2*n)
		}
		got.tell(t)
	}
}

// straggling are reads of which one in a hundred takes fifty times as long. The others differ
// a little: so hardly two workers wake at the same simulated time, in an order that depends on
// the machine.
func straggling(d time.Duration, seed uint64) func(time.Duration, int) time.Duration {
	return func(_ time.Duration, i int) time.Duration {
		r := chance(seed, i)
		if r.IntN(100) == 0 {
			return 50 * d
		}
		return d + time.Duration(r.Int64N(int64(d/10))) - d/20
	}
}

// TestAutoIsFastWithAFewVerySlowReads with many seeds: small batches wait for a slow sample
// for much of the time, so that more workers help only with more batches in flight. Two
// processors compute 2000 samples/s. 256 workers with two batches each load 93 % of that in
// batches of 8, but only 28 % in batches of 1.
func TestAutoIsFastWithAFewVerySlowReads(t *testing.T) {
	testenv.Slow(t)
	onTwoProcessors(t)
	const (
		best = 2000
		most = 45 // changes
	)
	for _, batch := range []int{1, 8} {
		all, count := 0.0, 0.0
		for seed := range uint64(12) {
			if testing.Short() && seed > 1 {
				break // it takes long with the race detector
			}
			s := simulation{batch: batch, read: straggling(20*ms, seed), compute: ms, stages: seed%2 == 0}
			auto := func() simulated {
				return s.run(t, 15*time.Second, 60*time.Second, loader.Workers(loader.Auto), loader.Budget(1<<30))
			}
			got := auto()
			for try := 0; try < 3 && (got.settled < 0.65*best || got.changes > most); try++ {
				got = auto() // who helps with a batch depends on who comes first at the same simulated time
			}
			if got.settled < 0.65*best {
				t.Errorf("batches of %d, seed %d: %.3f of %d samples/s, want 0.65", batch, seed, got.settled/best, best)
			}
			if n := got.changes; n > most {
				t.Errorf("batches of %d, seed %d: %d changes, want %d at most", batch, seed, n, most)
			}
			all, count = all+got.settled/best, count+1
			t.Logf("batches of %d, seed %d: %.3f of %d, %v", batch, seed, got.settled/best, best, got.stats.Tuning)
			got.tell(t)
		}
		if mean := all / count; mean < 0.85 && !testing.Short() {
			t.Errorf("batches of %d: %.3f of %d samples/s on average, want 0.85", batch, mean, best)
		}
	}
}
