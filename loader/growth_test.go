package loader_test

import (
	"context"
	"encoding/json"
	"errors"
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

// An arriving dataset has n samples in the end. Of these, more arrive at once when samples
// are wanted that are not there yet.
type arriving struct {
	fake
	more     int
	refuse   int           // samples from this number on are an error
	patience time.Duration // how long a wait for samples takes

	mu    sync.Mutex
	known int
}

var errBroken = errors.New("the stream broke")

func (g *arriving) Len() int { return dataset.Unknown }

func (g *arriving) Await(ctx context.Context, n int, _ <-chan struct{}) (have int, ended bool, err error) {
	select {
	case <-time.After(g.patience):
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.known < min(n, g.n) {
		g.known = min(g.known+g.more, g.n)
	}
	if g.refuse > 0 && n > g.refuse {
		return 0, false, errBroken
	}
	return g.known, g.known == g.n && n > g.n, nil
}

// newArriving is a stream of n noisy samples.
func newArriving(n, more int) *arriving {
	g := &arriving{more: more}
	g.fake = *augmented(n)
	g.fake.n = n
	return g
}

func TestADatasetOfUnknownLengthGivesTheSameBatchesForAnyNumberOfWorkers(t *testing.T) {
	for _, n := range []int{0, 1, 7, 40, 42} {
		for _, drop := range []bool{false, true} {
			options := []loader.Option{loader.BatchSize(4), loader.Seed(5), loader.DropLast(drop)}
			want, _ := runWithPositions(t, loadertest.New(t, augmented(n), options...))
			for _, workers := range []int{0, 1, 3, 8} {
				for _, more := range []int{1, 5, 100} {
					l := loadertest.New(t, newArriving(n, more), append(options, loader.Workers(workers))...)
					got, _ := runWithPositions(t, l) // two epochs
					if !slices.Equal(got, want) {
						t.Errorf("%d samples, %d at once, %d workers, drop last %v: got %d batches that differ from the %d of a dataset with a length", n, more, workers, drop, len(got), len(want))
					}
				}
			}
		}
	}
}

func TestADatasetOfUnknownLengthResumesAfterEveryBatch(t *testing.T) {
	options := []loader.Option{loader.BatchSize(4), loader.Seed(5)}
	batches, positions := runWithPositions(t, loadertest.New(t, newArriving(42, 9), options...))
	for k, p := range positions {
		l := loadertest.New(t, newArriving(42, 3), append(options, loader.Workers(k%4))...)
		if got := resume(t, l, p); !slices.Equal(got, batches[k+1:]) {
			t.Errorf("at %s: got %d batches that differ from the %d uninterrupted ones", p, len(got), len(batches)-k-1)
		}
	}
	l := loadertest.New(t, newArriving(20, 3), options...)
	p := l.Position(0)
	p.Draw = 24
	for _, err := range l.From(t.Context(), p, 1) {
		if err == nil || !strings.Contains(err.Error(), "draw 24") || !strings.Contains(err.Error(), "20 samples") {
			t.Errorf("got %v, want that the position lies after the end", err)
		}
	}
}

// Unordered delivery, with a position in the middle of a plan whose end is not known.
func TestADatasetOfUnknownLengthLosesNothingWhenUnordered(t *testing.T) {
	options := []loader.Option{loader.BatchSize(3), loader.Workers(4), loader.Unordered(true)}
	for stop := range 12 {
		var got []int64
		l := loadertest.New(t, newArriving(50, 11), options...)
		p := l.Position(0)
		k := 0
		for b, err := range l.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				got = append(got, int64(b.Epoch()*1000+i))
			}
			if p = b.Position(); k == stop {
				break
			}
			k++
		}
		for b, err := range l.From(t.Context(), p, 2) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				got = append(got, int64(b.Epoch()*1000+i))
			}
		}
		slices.Sort(got)
		if distinct := slices.Compact(slices.Clone(got)); len(got) != 100 || len(distinct) != 100 {
			t.Errorf("stopped after batch %d: %d samples, %d distinct, want 100", stop, len(got), len(distinct))
		}
	}
}

func TestRanksShareADatasetOfUnknownLength(t *testing.T) {
	const n = 50
	for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
		for rank := range 3 {
			want, err := sampler.Shard(sampler.Sequential(n), rank, 3, mode)
			if err != nil {
				t.Fatal(err)
			}
			share, err := sampler.Shard(sampler.Endless(), rank, 3, mode)
			if err != nil {
				t.Fatal(err)
			}
			options := []loader.Option{loader.BatchSize(4), loader.Seed(1)}
			fixed, _ := runWithPositions(t, loadertest.New(t, augmented(n), append(options, loader.Sampler(want))...))
			got, positions := runWithPositions(t, loadertest.New(t, newArriving(n, 7), append(options, loader.Sampler(share))...))
			if !slices.Equal(got, fixed) {
				t.Errorf("%v, rank %d: the batches differ from those of a dataset with a length", mode, rank)
			}
			// The rest goes to one rank.
			alone := loadertest.New(t, newArriving(n, 7), append(options, loader.Workers(1))...)
			p := positions[1] // 2 batches of 4 samples on each of 3 ranks
			for b, err := range alone.From(t.Context(), decoded(t, p), 1) {
				if err != nil {
					t.Fatal(err)
				}
				if first := b.Indices()[0]; first != 24 {
					t.Errorf("after %s one rank goes on with sample %d, want 24", p, first)
				}
				break
			}
		}
	}
}

func decoded(t *testing.T, position string) (p loader.Position) {
	t.Helper()
	if err := json.Unmarshal([]byte(position), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnErrorOfAStreamFollowsItsBatches(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		ds := newArriving(40, 4)
		ds.refuse = 20
		var got []int
		var failed error
		l := loadertest.New(t, ds, loader.BatchSize(4), loader.Workers(workers))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				failed = err
				break
			}
			got = append(got, b.Indices()...)
		}
		if len(got) != 20 || !errors.Is(failed, errBroken) || !strings.Contains(failed.Error(), "epoch 0") {
			t.Errorf("%d workers: %d samples, then %v: want 20, then %v", workers, len(got), failed, errBroken)
		}
	}
}

func TestAwaitThatPanicsOrLiesIsAnError(t *testing.T) {
	for name, ds := range map[string]dataset.Dataset{
		"panics": awaiting{newArriving(4, 1), func(int) (int, bool, error) { panic("no stream") }},
		"lies":   awaiting{newArriving(4, 1), func(n int) (int, bool, error) { return n - 1, false, nil }},
		"shrinks": awaiting{newArriving(4, 1), func(n int) (int, bool, error) {
			if n > 4 {
				return 2, true, nil
			}
			return 4, false, nil
		}},
	} {
		for _, workers := range []int{0, 2} {
			l := loadertest.New(t, ds, loader.BatchSize(2), loader.Workers(workers))
			var failed error
			for _, err := range l.Epoch(t.Context(), 0) {
				failed = err
			}
			if failed == nil {
				t.Errorf("%s, %d workers: no error", name, workers)
			}
		}
	}
}

type awaiting struct {
	*arriving
	await func(n int) (int, bool, error)
}

func (a awaiting) Await(_ context.Context, n int, _ <-chan struct{}) (int, bool, error) {
	return a.await(n)
}

// A dataset that needs the loop body to go on learns when it does not run.
func TestIdleIsClosedOnlyWhenNothingElseIsLeft(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var inBody atomic.Bool
			var delivered atomic.Int32
			ds := idling{newArriving(40, 1), func() {
				if n := delivered.Load(); inBody.Load() || n < 3 {
					t.Errorf("%d workers: idle is closed after %d batches of 3; the loop body runs: %v", workers, n, inBody.Load())
				}
			}}
			ds.place = func(_ context.Context, _ int, dst dataset.Slot) error {
				time.Sleep(10 * time.Second) // the loop waits for batches, too
				return nil
			}
			l := loadertest.New(t, ds, loader.BatchSize(4), loader.Workers(workers), loader.InFlight(8))
			batches := 0
			for _, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					if !errors.Is(err, errBroken) || batches != 3 {
						t.Errorf("after %d batches: %v, want %v after 3", batches, err, errBroken)
					}
					break
				}
				inBody.Store(true)
				delivered.Add(1)
				time.Sleep(time.Second)
				synctest.Wait()
				batches++
				inBody.Store(false)
			}
		})
	}
}

// idling has twelve samples, and waits until idle is closed when more are wanted.
type idling struct {
	*arriving
	closed func()
}

func (i idling) Await(ctx context.Context, n int, idle <-chan struct{}) (int, bool, error) {
	if n <= 12 {
		return 12, false, nil
	}
	select {
	case <-idle:
		i.closed()
		return 0, false, errBroken
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
}

func TestALoopThatEndsLeavesNoWaitForSamples(t *testing.T) {
	for _, workers := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			ds := newArriving(1<<20, 2)
			ds.patience = time.Hour
			l, err := loader.New(ds, loader.BatchSize(2), loader.Workers(workers))
			if err != nil {
				t.Fatal(err)
			}
			for range l.Epoch(t.Context(), 0) {
				break
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			for _, err := range l.Epoch(ctx, 0) {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			}
			if waited := time.Since(begun); waited != time.Minute {
				t.Errorf("%d workers: the loop ended after %v, want a minute", workers, waited)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}) // it fails if a goroutine is left
	}
}

func TestTimeoutSaysThatItWaitsForSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newArriving(100, 2)
		ds.patience = time.Hour
		l := loadertest.New(t, ds, loader.BatchSize(6), loader.Workers(2), loader.Timeout(time.Minute))
		for _, err := range l.Epoch(t.Context(), 0) {
			if want := "waiting for 6 samples"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
}

func TestWhatNeedsALengthRefusesAnUnknownOne(t *testing.T) {
	ds := newArriving(10, 1)
	for want, options := range map[string][]loader.Option{
		"Shuffle(true)": {loader.Shuffle(true)},
		"BatchSampler":  {loader.BatchSampler(sampler.List{{0}})},
	} {
		if l, err := loader.New(ds, options...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want an error with %q", l, err, want)
		}
	}
	if l, err := loader.New(struct{ dataset.Dataset }{ds}); err == nil || !strings.Contains(err.Error(), "Awaiter") {
		t.Errorf("without Await: got %v, %v", l, err)
	}
	l := loadertest.New(t, ds, loader.Sampler(sampler.Sequential(10)))
	for _, err := range l.Epoch(t.Context(), 0) {
		if err == nil || !strings.Contains(err.Error(), "sampler.Endless") {
			t.Errorf("with another order: got %v", err)
		}
	}
	l = loadertest.New(t, ds)
	if n, err := l.Len(l.Position(0)); err == nil {
		t.Errorf("Len: got %d", n)
	}
}
