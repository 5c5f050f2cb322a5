package loader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// A seer is a dataset that notes what it foresees.
type seer struct {
	*fake
	mu      sync.Mutex
	told    [][]int // of all epochs
	futures []dataset.Future
	living  int
	most    int // living at once
	stops   int
	foresee func()
	stop    func()
}

func (s *seer) Foresee(f dataset.Future) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range f.Len() {
		if indices := f.At(k, nil); len(indices) > 0 {
			s.told = append(s.told, indices)
		}
	}
	if f.Begun() != 0 || f.Done() != 0 {
		panic("batches have begun before they were foreseen")
	}
	s.futures = append(s.futures, f)
	s.living++
	s.most = max(s.most, s.living)
	if s.foresee != nil {
		s.foresee()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.living--
		s.stops++
		if s.stop != nil {
			s.stop()
		}
	}
}

func newSeer(n int) *seer { return &seer{fake: &fake{n: n}} }

func TestDatasetIsToldAllBatchesOfAllEpochs(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 53
	world, err := sampler.Shard(sampler.Shuffle(n, 5), 1, 3, sampler.PadToEven)
	if err != nil {
		t.Fatal(err)
	}
	bylength := sampler.ByLength(make([]int, n), 7, sampler.BatchSize(5))
	for name, options := range map[string][]loader.Option{
		"in order":        {loader.BatchSize(4)},
		"shuffled":        {loader.BatchSize(4), loader.Shuffle(true), loader.Workers(1)},
		"drop last":       {loader.BatchSize(4), loader.DropLast(true), loader.Workers(7)},
		"inline":          {loader.BatchSize(4), loader.Shuffle(true), loader.Workers(0)},
		"unordered":       {loader.BatchSize(4), loader.Shuffle(true), loader.Unordered(true), loader.Workers(5)},
		"a rank":          {loader.BatchSize(4), loader.Sampler(world)},
		"a batch sampler": {loader.BatchSampler(bylength)},
	} {
		ds := newSeer(n)
		l := loadertest.New(t, ds, options...)
		var got [][]int
		for b, err := range l.Epochs(t.Context(), 2, 7) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(b.Indices()))
		}
		if strings.HasPrefix(name, "unordered") {
			slices.SortFunc(got, slices.Compare)
			slices.SortFunc(ds.told, slices.Compare)
		}
		if fmt.Sprint(got) != fmt.Sprint(ds.told) {
			t.Errorf("%s: told\n%v\ndelivered\n%v", name, ds.told, got)
		}
		// An epoch lives until its last batch is taken from its slab. Slabs hold successive
		// batches, so those of that many epochs. Once the last batch of these is begun, the next epoch is under way,
		// and one more is planned.
		slabs, batches := l.Stats().Slabs, len(got)/5
		most := 1 + (slabs-1+batches-1)/batches + 2
		if name == "unordered" { // TestEpochsEndWhileAnEarlierOneIsNotOver
			most = 5
		}
		if len(ds.futures) != 5 || ds.stops != 5 || ds.living != 0 || ds.most > most {
			t.Errorf("%s: %d epochs, %d stops, at most %d at once, want %d", name, len(ds.futures), ds.stops, ds.most, most)
		}
	}
}

// A sample of the first epoch is placed when all other batches of all epochs were delivered.
func TestEpochsEndWhileAnEarlierOneIsNotOver(t *testing.T) {
	const epochs, batches = 5, 14
	ds := newSeer(53)
	last := make(chan struct{})
	var placed atomic.Int64
	ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
		if i == 7 && placed.Add(1) == 1 {
			select {
			case <-last:
			case <-ctx.Done():
			}
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	}
	l := loadertest.New(t, ds, loader.BatchSize(4), loader.Unordered(true), loader.Workers(2))
	k := 0
	for b, err := range l.Epochs(t.Context(), 0, epochs) {
		if err != nil {
			t.Fatal(err)
		}
		k++
		ds.mu.Lock()
		living, stops := ds.living, ds.stops
		ds.mu.Unlock()
		if living > 4 { // the first epoch, two with batches in the other slabs, and the planned one
			t.Errorf("%d epochs at once in the body of %v", living, b)
		}
		if k == epochs*batches-1 {
			if living != 1 || stops != epochs-1 {
				t.Errorf("%d epochs at once and %d stops before the last batch, want 1 and %d", living, stops, epochs-1)
			}
			close(last)
		}
	}
	if k != epochs*batches || ds.living != 0 || ds.stops != epochs {
		t.Errorf("%d batches, %d stops", k, ds.stops)
	}
}

func TestResumedEpochsAreForeseenFromThePositionOn(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		options := []loader.Option{loader.BatchSize(3), loader.Shuffle(true), loader.Unordered(unordered), loader.Workers(4)}
		first := loadertest.New(t, newSeer(40), options...)
		for stopAt := 1; stopAt < 20; stopAt += 3 {
			var position loader.Position
			k := 0
			for b, err := range first.Epochs(t.Context(), 0, 2) {
				if err != nil {
					t.Fatal(err)
				}
				position = b.Position()
				if k++; k == stopAt {
					break
				}
			}
			ds := newSeer(40)
			l := loadertest.New(t, ds, options...)
			var got [][]int
			for b, err := range l.From(t.Context(), position, 2) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, slices.Clone(b.Indices()))
			}
			if unordered {
				slices.SortFunc(got, slices.Compare)
				slices.SortFunc(ds.told, slices.Compare)
			}
			if fmt.Sprint(got) != fmt.Sprint(ds.told) || len(got) != 28-stopAt {
				t.Errorf("unordered %v, from %d on: told\n%v\ndelivered\n%v", unordered, stopAt, ds.told, got)
			}
		}
	}
}

func TestFutureKnowsHowFarTheLoaderIs(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		ds := newSeer(60)
		ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
			ds.mu.Lock()
			f := ds.futures[len(ds.futures)-1]
			ds.mu.Unlock()
			if begun, done := f.Begun(), f.Done(); begun <= i/5 || done > i/5 {
				t.Errorf("sample %d of batch %d is placed: %d begun, %d done", i, i/5, begun, done)
			}
			dataset.Set(dst, 0, int64(i))
			return nil
		}
		l := loadertest.New(t, ds, loader.BatchSize(5), loader.Workers(workers), loader.InFlight(3))
		k := 0
		for range l.Epoch(t.Context(), 0) {
			k++
			f := ds.futures[0]
			if begun, done := f.Begun(), f.Done(); done < k || begun < done || begun > k+2 {
				t.Errorf("%d workers, in the body of batch %d: %d begun, %d done", workers, k-1, begun, done)
			}
		}
		if f := ds.futures[0]; k != 12 || f.Len() != 12 || f.Done() != 12 || len(f.At(12, nil))+len(f.At(-1, nil)) != 0 {
			t.Errorf("%d workers: %d batches, %d done", workers, k, f.Done())
		}
	}
}

func TestEveryForesightEndsWithItsLoop(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, loop := range map[string]func(ctx context.Context, cancel func(), l *loader.Loader, ds *seer){
		"break": func(ctx context.Context, _ func(), l *loader.Loader, _ *seer) {
			for range l.Epochs(ctx, 0, 9) {
				break
			}
		},
		"cancel": func(ctx context.Context, cancel func(), l *loader.Loader, _ *seer) {
			for range l.Epochs(ctx, 0, 9) {
				cancel()
			}
		},
		"panic": func(ctx context.Context, _ func(), l *loader.Loader, _ *seer) {
			defer func() { _ = recover() }()
			for range l.Epochs(ctx, 0, 9) {
				panic("body")
			}
		},
		"error": func(ctx context.Context, _ func(), l *loader.Loader, ds *seer) {
			ds.place = func(context.Context, int, dataset.Slot) error { return errBad }
			for range l.Epochs(ctx, 0, 9) {
			}
		},
		"Close": func(ctx context.Context, _ func(), l *loader.Loader, _ *seer) {
			for range l.Epochs(ctx, 0, 9) {
				if err := l.Close(); err != nil {
					panic(err)
				}
			}
		},
		"many short loops": func(ctx context.Context, _ func(), l *loader.Loader, _ *seer) {
			for range 50 {
				for range l.Epochs(ctx, 0, 9) {
					break
				}
			}
		},
	} {
		for _, workers := range []int{0, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			ds := newSeer(20)
			l := loadertest.New(t, ds, loader.BatchSize(20), loader.Workers(workers))
			loop(ctx, cancel, l, ds)
			cancel()
			if err := l.Close(); err != nil { // waits for plannings
				t.Error(err)
			}
			if ds.living != 0 || ds.stops != len(ds.futures) {
				t.Errorf("%s, %d workers: %d of %d were stopped", name, workers, ds.stops, len(ds.futures))
			}
		}
	}
}

func TestForeseeThatFailsIsAnErrorOfTheEpoch(t *testing.T) {
	ds := newSeer(20)
	ds.foresee = func() {
		if len(ds.futures) == 2 {
			panic("no oracle")
		}
	}
	l := loadertest.New(t, ds, loader.BatchSize(10))
	batches := 0
	var last error
	for _, err := range l.Epochs(t.Context(), 0, 9) {
		if last = err; err == nil {
			batches++
		}
	}
	var p *dataset.PanicError
	if batches != 2 || !errors.As(last, &p) || !strings.HasPrefix(last.Error(), "loader: epoch 1: foresee: ") {
		t.Errorf("%d batches, then %v", batches, last)
	}

	for name, fail := range map[string]func(){"panic": func() { panic("stuck") }} {
		ds := newSeer(20)
		ds.stop = fail
		l, err := loader.New(ds, loader.BatchSize(10))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range l.Epoch(t.Context(), 0) {
			}
		}()
		<-done
		if err := l.Close(); err == nil || !strings.Contains(err.Error(), "loader: epoch 0: stop of Foresee: ") {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
}

// blind foresees nothing.
type blind struct{ *seer }

func (blind) Foresee(dataset.Future) func() { return nil }

func TestDatasetMayIgnoreTheFuture(t *testing.T) {
	ds := newSeer(20)
	if got := collect(t, loadertest.New(t, blind{ds}, loader.BatchSize(10)), 0, 2); len(got) != 4 || len(ds.told) != 0 {
		t.Errorf("%v", got)
	}
}

func TestSamplerThatPanicsHasNoFuture(t *testing.T) {
	ds := newSeer(20)
	l := loadertest.New(t, ds, loader.BatchSize(2), loader.Sampler(breaks{}))
	var last error
	for _, err := range l.Epoch(t.Context(), 0) {
		last = err
	}
	if fmt.Sprint(ds.told) != "[[0 1] [2 3] [6 7] [8 9]]" || last == nil || !strings.Contains(last.Error(), "batch 2") {
		t.Errorf("told %v, error %v", ds.told, last)
	}
}

// breaks is a sampler of 10 samples that panics at the fifth.
type breaks struct{}

func (breaks) Epoch(int) sampler.Order { return breaks{} }
func (breaks) Len() int                { return 10 }
func (breaks) At(k int) int {
	if k == 5 {
		panic("torn")
	}
	return k
}

// A clinging dataset does not stop when it is told that an epoch is over.
type clinging struct {
	*fake
	hang <-chan struct{}
}

func (c clinging) Foresee(dataset.Future) (stop func()) { return func() { <-c.hang } }

func TestTimeoutHoldsForTheEndOfAnEpochThatWasForeseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		l, err := loader.New(clinging{&fake{n: 8}, hang}, loader.Workers(1), loader.BatchSize(2), loader.Timeout(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if got := len(collect(t, l, 0, 1)); got != 4 {
			t.Errorf("%d batches, want 4", got)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("the loop took %v, want the Timeout", took)
		}
		err = l.Close()
		if want := "ending the foresight of epoch 0 for 2s"; !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), want) {
			t.Errorf("Close: %v, want %s", err, want)
		}
		close(hang)
	})
}
