package loader_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// forTime loops until so much time has passed, and fails if there is an error.
func forTime(t *testing.T, l *loader.Loader, d time.Duration, body func(b *loader.Batch)) {
	t.Helper()
	begun := time.Now()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if body != nil {
			body(b)
		}
		if time.Since(begun) > d {
			break
		}
	}
}

// simulatedAuto is Auto where the processor time is not known. Simulated time passes without any.
func simulatedAuto() loader.Option {
	return loader.Options(loader.Workers(loader.Auto), loader.ProcessTime(func() (time.Duration, bool) { return 0, false }))
}

// throttled is a dataset without an end whose reads take 80 ms.
func throttled() *fake {
	return simulation{read: reads(80 * ms), compute: ms, stages: true}.dataset()
}

func TestAutoGivesTheSameBatchesWhileItChangesAllTheTime(t *testing.T) {
	onTwoProcessors(t)
	const n, epochs = 203, 3
	options := func(more ...loader.Option) []loader.Option {
		return append(more, loader.BatchSize(8), loader.Shuffle(true), loader.Seed(5))
	}
	want := contents(t, loadertest.New(t, augmented(n), options(loader.Workers(0))...), 0, epochs)
	for seed := range uint64(20) {
		whims := rand.New(rand.NewPCG(seed, 1))
		unordered := seed%3 == 0
		ds := augmented(n)
		place := ds.place
		ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
			time.Sleep(20 * us)
			return place(ctx, i, dst)
		}
		l := loadertest.New(t, ds, options(loader.Workers(loader.Auto), loader.Restless(9, whims.IntN), loader.Unordered(unordered), loader.Help(seed%2 == 0))...)
		got, want := contents(t, l, 0, epochs), want
		if unordered {
			slices.Sort(got)
			want = slices.Sorted(slices.Values(want))
		}
		if !slices.Equal(got, want) {
			t.Errorf("whims %d: the batches differ from those without workers", seed)
		}
		if loader.Changes(l) == 0 {
			t.Errorf("whims %d: nothing has changed: %v", seed, l.Stats().Tuning)
		}
	}
}

func TestAutoLeavesWhatIsGivenAsItIs(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, throttled(), simulatedAuto(), loader.InFlight(4), loader.BatchSize(16), loader.Budget(1<<20))
		forTime(t, l, 20*time.Second, nil)
		if got := l.Stats(); got.Workers < 8 || got.Slabs != 4 {
			t.Errorf("%v: want more workers, and 4 batches in flight", got)
		}
	})
}

// TestAutoDoesWithoutWorkersThatCannotOpenTheDataset beyond those that it begins with.
func TestAutoDoesWithoutWorkersThatCannotOpenTheDataset(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		most := int64(runtime.GOMAXPROCS(0) + 3)
		var open atomic.Int64
		ds := throttled()
		ds.open = func() error {
			if open.Add(1) > most {
				return errors.New("too many files")
			}
			return nil
		}
		l := loadertest.New(t, ds, simulatedAuto(), loader.BatchSize(4), loader.Budget(1<<20))
		for range 2 {
			forTime(t, l, 10*time.Second, nil)
			got := l.Stats()
			if int64(got.Workers) > most || got.Workers < runtime.GOMAXPROCS(0) || !strings.Contains(got.String(), "too many files") {
				t.Errorf("want at most %d workers: %v", most, got)
			}
		}
	})
}

// TestAutoDoesWithTheSlabsThatTheAllocatorGives.
func TestAutoDoesWithTheSlabsThatTheAllocatorGives(t *testing.T) {
	onTwoProcessors(t)
	for name, refuse := range map[string]func() error{
		"error": func() error { return errors.New("no pages left") },
		"panic": func() error { panic("no pages left") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := &refusing{refuse: refuse, left: 2*runtime.GOMAXPROCS(0) + 3}
				l, err := loader.New(throttled(), simulatedAuto(), loader.BatchSize(4), loader.Budget(1<<20), loader.Memory(memory))
				if err != nil {
					t.Fatal(err)
				}
				forTime(t, l, 20*time.Second, nil)
				got := l.Stats()
				if got.Slabs != 2*runtime.GOMAXPROCS(0)+3 || got.Workers < 8 || !strings.Contains(got.Tuning, "there are no more than") {
					t.Errorf("want %d slabs: %v", 2*runtime.GOMAXPROCS(0)+3, got)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				memory.emptied(t)
			})
		})
	}
}

// A refusing allocator refuses after some calls.
type refusing struct {
	checked
	refuse func() error
	once   sync.Mutex
	left   int
}

func (r *refusing) Alloc(n int) ([]byte, error) {
	r.once.Lock()
	r.left--
	left := r.left
	r.once.Unlock()
	if left < 0 {
		if err := r.refuse(); err != nil {
			return nil, err
		}
	}
	return r.checked.Alloc(n)
}

// TestStatsSayWhatAutoHasChosenAndWhy, and nothing of it with a fixed number of workers.
func TestStatsSayWhatAutoHasChosenAndWhy(t *testing.T) {
	onTwoProcessors(t)
	s := loadertest.New(t, &fake{n: 8}, loader.Workers(loader.Auto), loader.Budget(1<<30)).Stats()
	const want = "2 workers: a worker per processor to begin with"
	if s.Tuning != want {
		t.Errorf("got  %s\nwant %s", s.Tuning, want)
	}
	if got := s.String(); !strings.Contains(got, "tuning       "+want+"\n") {
		t.Errorf("%q is missing in:\n%s", want, got)
	}
	fixed := loadertest.New(t, &fake{n: 8}, loader.Workers(2))
	collect(t, fixed, 0, 1)
	if s := fixed.Stats(); s.Tuning != "" || strings.Contains(s.String(), "tuning") {
		t.Errorf("with a fixed number of workers:\n%v", s)
	}
}

// TestAutoBeginsWithAWorkerPerProcessor.
func TestAutoBeginsWithAWorkerPerProcessor(t *testing.T) {
	l := loadertest.New(t, &fake{n: 8}, loader.Workers(loader.Auto))
	if got := l.Stats(); got.Workers != runtime.GOMAXPROCS(0) || got.Slabs != 2*got.Workers+1 {
		t.Errorf("%v", got)
	}
}

// TestAutoDoesNotLoadAnEpochAheadOfASlowSample, although the budget has room for it.
func TestAutoDoesNotLoadAnEpochAheadOfASlowSample(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		ds := &fake{n: 20_000, place: func(_ context.Context, i int, _ dataset.Slot) error {
			if i == 20 {
				time.Sleep(3 * time.Second)
			}
			return nil
		}}
		l := loadertest.New(t, ds, simulatedAuto(), loader.BatchSize(16))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Number() < 2 {
				continue
			}
			// There were 5, and as many more for each of the batches 0 and 1.
			if got := l.Stats().Slabs; got > 4*5 {
				t.Errorf("%d slabs, want 20 at most", got)
			}
			break
		}
	})
}

// TestAutoAddsNoSlabWhenTheLoopIsToEnd: while it waits for batch 0, it is known that batch 4 cannot be drawn.
func TestAutoAddsNoSlabWhenTheLoopIsToEnd(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		ds := &fake{n: 8, place: func(_ context.Context, i int, _ dataset.Slot) error {
			if i == 0 {
				time.Sleep(time.Second)
			}
			return nil
		}}
		l := loadertest.New(t, ds, simulatedAuto(), loader.Sampler(fixedOrder{0, 1, 2, 3, 99, 4, 5, 6}))
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			last = err
		}
		if got := l.Stats(); last == nil || got.Batches != 4 || got.Slabs != 5 {
			t.Errorf("%v, and %d slabs, want 5: %v", last, got.Slabs, got)
		}
	})
}

// A swelling batch sampler has batches of 4 samples in epoch 0 and of 16 in epoch 1.
type swelling int

func (n swelling) Epoch(epoch int) sampler.Batches {
	return swollen{int(n), 4 + 12*epoch}
}

type swollen struct{ n, size int }

func (s swollen) Len() int { return s.n / s.size }

func (s swollen) At(k int, dst []int) []int {
	for i := range s.size {
		dst = append(dst, k*s.size+i)
	}
	return dst
}

// TestLoadersStayWithinTheBudgetIfBatchesGrow: later epochs have larger batches than the
// first one. Slabs beyond the budget go when they become free.
func TestLoadersStayWithinTheBudgetIfBatchesGrow(t *testing.T) {
	onTwoProcessors(t)
	for _, workers := range []int{loader.Auto, 16} {
		staysWithinTheBudget(t, workers)
	}
}

func staysWithinTheBudget(t *testing.T, workers int) {
	synctest.Test(t, func(t *testing.T) {
		const n, budget = 4000, 20 * 4 * 64
		ds := &fake{n: n, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{64}}}, place: func(context.Context, int, dataset.Slot) error {
			time.Sleep(10 * ms)
			return nil
		}}
		l := loadertest.New(t, ds, loader.Workers(workers), loader.Budget(budget), loader.BatchSampler(swelling(n)))
		for b, err := range l.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Stats().SlabBytes; b.Epoch() == 1 && b.Number() > 30 && got > budget {
				t.Fatalf("batch %d of epoch %d: %d bytes, want %d at most", b.Number(), b.Epoch(), got, budget)
			}
		}
	})
}

// A lingering Allocator takes a second for every slab beyond those that a loader begins with.
type lingering struct {
	checked
	left int
	busy atomic.Bool
}

func (s *lingering) Alloc(n int) ([]byte, error) {
	if s.left--; s.left < 0 {
		s.busy.Store(true)
		defer s.busy.Store(false)
		time.Sleep(time.Second)
	}
	return s.checked.Alloc(n)
}

// held is the number of slabs that are not freed.
func (s *lingering) held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.out)
}

// TestCloseWaitsForTheAllocatorOfASlab, no longer than a Timeout.
func TestCloseWaitsForTheAllocatorOfASlab(t *testing.T) {
	onTwoProcessors(t)
	for timeout, want := range map[time.Duration]string{
		0:                      "",
		3 * time.Second:        "",
		100 * time.Millisecond: "allocating a slab for 101ms",
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := &lingering{left: 5}
			ds := &fake{n: 1000, place: func(ctx context.Context, i int, _ dataset.Slot) error {
				if i == 0 {
					<-ctx.Done() // all other slabs are full then
				}
				return nil
			}}
			l, err := loader.New(ds, simulatedAuto(), loader.Memory(memory), loader.Timeout(timeout))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for range l.Epoch(t.Context(), 0) {
				}
			}()
			if time.Sleep(ms); !memory.busy.Load() {
				t.Fatal("no slab is allocated")
			}
			begun := time.Now()
			err = l.Close()
			if want == "" && (err != nil || memory.busy.Load()) {
				t.Errorf("Timeout(%v): got %v after %v, and the Allocator runs: %t", timeout, err, time.Since(begun), memory.busy.Load())
			}
			if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("Timeout(%v): got %v, want %s", timeout, err, want)
			}
			time.Sleep(2 * time.Second) // in which the loop frees its batches
			if memory.held() > 0 {
				t.Errorf("Timeout(%v): %d slabs are not freed", timeout, memory.held())
			}
		})
	}
}
