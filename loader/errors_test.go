package loader_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// outcome is what a loop gets: the samples of its batches, and errors in their places.
func outcome(t *testing.T, l *loader.Loader) (seen []string) {
	t.Helper()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			seen = append(seen, "error: "+strings.SplitN(err.Error(), "\n", 2)[0])
			continue
		}
		seen = append(seen, fmt.Sprint(b.Indices(), loader.Values[int64](b, "x")))
	}
	return seen
}

func TestErrorFollowsEarlierBatches(t *testing.T) {
	ds := failing(20, func(i int) bool { return i == 9 || i == 10 || i == 13 })
	for _, workers := range []int{0, 1, 5} {
		l := newLoader(t, ds, loader.Workers(workers), loader.BatchSize(4))
		got := outcome(t, l)
		want := []string{
			"[0 1 2 3] [0 1 2 3]",
			"[4 5 6 7] [4 5 6 7]",
			"error: loader: sample 9 (sample-9), epoch 0, batch 2: bad sample",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
	}
}

// As in a loop for batch := range, which does not look at the error.
func TestABatchInPlaceOfAnErrorSaysSo(t *testing.T) {
	l := newLoader(t, failing(4, func(int) bool { return true }))
	for batch := range l.Epoch(t.Context(), 0) {
		for name, use := range map[string]func(){
			"Tensor": func() { batch.Tensor("x") },
			"Values": func() { loader.Values[float32](batch, "x") },
			"Keep":   func() { batch.Keep() },
		} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, "the loop ended with an error") {
						t.Errorf("%s: panic %v", name, got)
					}
				}()
				use()
			}()
		}
	}
}

func TestSampleErrorSaysWhichSample(t *testing.T) {
	l := newLoader(t, failing(8, func(i int) bool { return i == 6 }), loader.Workers(2), loader.BatchSize(2))
	for _, err := range l.Epoch(t.Context(), 0) {
		if err == nil {
			continue
		}
		var e *loader.SampleError
		if !errors.As(err, &e) || e.Index != 6 || e.Name != "sample-6" || e.Batch != 3 || e.Epoch != 0 {
			t.Errorf("got %#v", err)
		}
		if !errors.Is(err, errBad) {
			t.Errorf("%v does not wrap the dataset's error", err)
		}
		return
	}
	t.Error("no error")
}

func TestPathIsInAnErrorOnce(t *testing.T) {
	ds := &fake{n: 2, place: func(_ context.Context, i int, dst dataset.Slot) error {
		_, err := fs.ReadFile(fstest.MapFS{}, fmt.Sprintf("sample-%d", i))
		return err
	}}
	got := outcome(t, newLoader(t, ds, loader.Workers(1)))
	if want := []string{"error: loader: sample 0, epoch 0, batch 0: open sample-0: file does not exist"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReadersKnowTheirWorker holds through wrappers and in batches. The number of a
// Reader's worker never changes.
func TestReadersKnowTheirWorker(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		var mu sync.Mutex
		seen := map[int]bool{}
		ds := &fake{n: 64, place: func(ctx context.Context, i int, dst dataset.Slot) error {
			id, ok := dataset.Worker(ctx)
			if !ok {
				return errors.New("no worker")
			}
			time.Sleep(10 * time.Microsecond)
			mu.Lock()
			defer mu.Unlock()
			seen[id] = true
			return nil
		}}
		both, err := dataset.Concat(ds, &gatherer{fake: ds})
		if err != nil {
			t.Fatal(err)
		}
		l := newLoader(t, both, loader.Workers(workers), loader.BatchSize(4))
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for id := range seen {
			if id < 0 || id >= max(1, workers) {
				t.Errorf("%d workers: one has the number %d", workers, id)
			}
		}
		if len(seen) == 0 {
			t.Error("nothing was placed")
		}
	}
	if id, ok := dataset.Worker(t.Context()); ok {
		t.Errorf("worker %d outside a loader", id)
	}
}

func TestSkipShortensTheBatch(t *testing.T) {
	for _, workers := range []int{0, 1, 5} {
		ds := failing(13, func(i int) bool { return i%4 == 1 || i == 12 })
		l := newLoader(t, ds, loader.Workers(workers), loader.BatchSize(4), loader.OnError(loader.Skip, -1))
		got := outcome(t, l)
		want := []string{
			"[0 2 3] [0 2 3]",
			"[4 6 7] [4 6 7]",
			"[8 10 11] [8 10 11]",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
		s := l.Stats()
		if s.Dropped != 4 || len(s.Failures) != 4 || s.Failures[1].Index != 5 {
			t.Errorf("dropped %d: %v", s.Dropped, s.Failures)
		}
		if s.Batches != 3 || s.Emptied != 1 || s.Wait.Count != 3 {
			t.Errorf("%d batches, %d emptied, %d waits, want 3, 1 and 3", s.Batches, s.Emptied, s.Wait.Count)
		}
	}
}

// TestEmptiedBatchesAreLeftOut loses all of batches 0, 3, 4 and 9.
func TestEmptiedBatchesAreLeftOut(t *testing.T) {
	ds := failing(40, func(i int) bool { return slices.Contains([]int{0, 3, 4, 9}, i/4) })
	for _, workers := range []int{0, 1, 5} {
		for _, unordered := range []bool{false, true} {
			options := []loader.Option{loader.Workers(workers), loader.BatchSize(4), loader.OnError(loader.Skip, loader.NoLimit), loader.Unordered(unordered)}
			l := newLoader(t, ds, options...)
			var positions []loader.Position
			var got []int
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				got, positions = append(got, b.Number()), append(positions, b.Position())
			}
			if s := l.Stats(); s.Batches != 6 || s.Emptied != 4 || s.Dropped != 16 {
				t.Errorf("%d workers: %d batches, %d emptied, %d samples dropped, want 6, 4 and 16", workers, s.Batches, s.Emptied, s.Dropped)
			}
			for k, p := range positions {
				resumed := slices.Clone(got[:k+1])
				for b, err := range l.From(t.Context(), p, 1) {
					if err != nil {
						t.Fatal(err)
					}
					resumed = append(resumed, b.Number())
				}
				slices.Sort(resumed)
				if want := []int{1, 2, 5, 6, 7, 8}; !slices.Equal(resumed, want) {
					t.Errorf("%d workers, unordered %v, interrupted at %+v: batches %v, want %v", workers, unordered, p, resumed, want)
				}
			}
		}
	}
}

func TestReplaceIsTheSameForAnyWorkers(t *testing.T) {
	bad := func(i int) bool { return i%3 == 0 }
	var want []string
	for _, workers := range []int{0, 1, 7} {
		l := newLoader(t, failing(40, bad), loader.Workers(workers), loader.BatchSize(8), loader.OnError(loader.Replace, -1))
		got := outcome(t, l)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
		if s := l.Stats(); s.Samples != 40 || s.Dropped < 14 {
			t.Errorf("%d samples, %d dropped", s.Samples, s.Dropped)
		}
	}
	for _, batch := range want {
		if strings.HasPrefix(batch, "error") {
			t.Errorf("Replace gave %s", batch)
		}
	}
}

func TestReplaceGivesUpWhenEverythingFails(t *testing.T) {
	l := newLoader(t, failing(8, func(int) bool { return true }), loader.Workers(2), loader.BatchSize(2), loader.OnError(loader.Replace, -1))
	got := outcome(t, l)
	if len(got) != 1 || !strings.Contains(got[0], "sample 0 (sample-0)") {
		t.Errorf("got %q", got)
	}
}

// TestErrorsThatMayPassEndTheLoop fails in sample 13, and for good in others, which are
// before it and in its batch too.
func TestErrorsThatMayPassEndTheLoop(t *testing.T) {
	for _, policy := range []loader.Policy{loader.Skip, loader.Replace} {
		for _, workers := range []int{0, 1, 5} {
			ds := failing(40, func(int) bool { return false })
			place := ds.place
			ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
				switch {
				case i == 13:
					return fmt.Errorf("read: %w", context.DeadlineExceeded)
				case i%4 == 0:
					return errBad
				}
				return place(ctx, i, dst)
			}
			l := newLoader(t, ds, loader.Workers(workers), loader.BatchSize(4), loader.OnError(policy, loader.NoLimit))
			var last error
			batches := 0
			for _, err := range l.Epoch(t.Context(), 0) {
				if last = err; err == nil {
					batches++
				}
			}
			var e *loader.SampleError
			if !errors.As(last, &e) || e.Index != 13 || !errors.Is(last, context.DeadlineExceeded) {
				t.Errorf("policy %v, %d workers: got %v, want the error of sample 13", policy, workers, last)
			}
			if policy == loader.Skip && batches != 3 {
				t.Errorf("%d workers: %d batches before the error, want 3", workers, batches)
			}
		}
	}
}

func TestLimitEndsTheLoop(t *testing.T) {
	ds := failing(40, func(i int) bool { return i%4 == 1 })
	for _, policy := range []loader.Policy{loader.Skip, loader.Replace} {
		l := newLoader(t, ds, loader.Workers(3), loader.BatchSize(4), loader.OnError(policy, 2))
		var last error
		batches := 0
		for _, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				batches++
			}
		}
		var e *loader.LimitError
		if !errors.As(last, &e) || e.Limit != 2 || !errors.Is(last, errBad) {
			t.Errorf("policy %v: got %v", policy, last)
		}
		if policy == loader.Skip && batches != 2 {
			t.Errorf("%d batches before the limit, want 2", batches)
		}
	}
}

func TestPanicIsAnErrorWithItsStack(t *testing.T) {
	opened := new(atomic.Int32)
	ds := failing(12, func(i int) bool {
		if i == 5 {
			panic(fmt.Errorf("boom: %w", errBad))
		}
		return false
	})
	ds.open = func() error { opened.Add(1); return nil }
	l := newLoader(t, ds, loader.Workers(1), loader.BatchSize(3), loader.OnError(loader.Skip, -1))
	if got := outcome(t, l); len(got) != 4 || got[1] != "[3 4] [3 4]" {
		t.Errorf("got %q", got)
	}
	var e *loader.PanicError
	if err := l.Stats().Failures[0]; !errors.As(err, &e) || !strings.Contains(string(e.Stack), "TestPanicIsAnErrorWithItsStack") || !errors.Is(err, errBad) {
		t.Errorf("got %v", err)
	}
	if opened.Load() != 2 {
		t.Errorf("readers opened: %d, want another one after the panic", opened.Load())
	}
}

func TestGoexitInADatasetIsAnError(t *testing.T) {
	for _, help := range []bool{true, false} {
		ds := failing(12, func(i int) bool {
			if i == 4 || i == 5 {
				runtime.Goexit()
			}
			return false
		})
		l := newLoader(t, ds, loader.Workers(2), loader.BatchSize(4), loader.OnError(loader.Skip, -1), loader.Help(help))
		got := outcome(t, l)
		want := []string{"[0 1 2 3] [0 1 2 3]", "[6 7] [6 7]", "[8 9 10 11] [8 9 10 11]"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := l.Stats().Failures[0]; !errors.Is(err, loader.ErrGoexit) {
			t.Errorf("got %v", err)
		}
	}
}

func TestReaderThatFailsToOpen(t *testing.T) {
	for _, workers := range []int{0, 3} {
		ds := &fake{n: 8, open: func() error { return fs.ErrPermission }}
		l := newLoader(t, ds, loader.Workers(workers), loader.BatchSize(2))
		got := outcome(t, l)
		if len(got) != 1 || !strings.Contains(got[0], "open dataset: permission denied") {
			t.Errorf("%d workers: got %q", workers, got)
		}
	}
}

func TestIndexOutOfRangeFromASampler(t *testing.T) {
	l := newLoader(t, &fake{n: 4}, loader.Workers(2), loader.BatchSize(3), loader.Sampler(fixedOrder{0, 1, 4, 2, -1, 3}), loader.OnError(loader.Skip, -1))
	got := outcome(t, l)
	if want := []string{"[0 1] [0 1]", "[2 3] [2 3]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := l.Stats().Failures[0]; !strings.Contains(err.Error(), "the sampler drew sample 4 of a dataset of 4") {
		t.Errorf("got %v", err)
	}
}

// A fixedOrder is a sampler with the same order in every epoch. It panics at 99.
type fixedOrder []int

func (o fixedOrder) Epoch(int) sampler.Order { return o }
func (o fixedOrder) Len() int                { return len(o) }
func (o fixedOrder) At(k int) int {
	if o[k] == 99 {
		panic("sampler is broken")
	}
	return o[k]
}

func TestPanicInASamplerFollowsEarlierBatches(t *testing.T) {
	for _, workers := range []int{0, 3} {
		l := newLoader(t, &fake{n: 8}, loader.Workers(workers), loader.BatchSize(2), loader.Sampler(fixedOrder{0, 1, 2, 3, 4, 99, 5, 6}))
		got := outcome(t, l)
		want := []string{"[0 1] [0 1]", "[2 3] [2 3]", "error: loader: epoch 0, batch 2: panic: sampler is broken"}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: got %q, want %q", workers, got, want)
		}
	}
}

// A gatherer is a fake whose Reader places whole batches. It fails on batches with a
// bad sample.
type gatherer struct {
	*fake
	calls atomic.Int64
}

func (g *gatherer) Open() (dataset.Reader, error) { return gatherReader{fakeReader{g.fake}, g}, nil }

type gatherReader struct {
	fakeReader
	g *gatherer
}

func (r gatherReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	r.g.calls.Add(1)
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

func TestBatchReaderPlacesWholeBatches(t *testing.T) {
	for _, help := range []bool{true, false} {
		ds := &gatherer{fake: failing(16, func(i int) bool { return i == 9 })}
		l := newLoader(t, ds, loader.Workers(2), loader.BatchSize(8), loader.Help(help), loader.OnError(loader.Skip, -1))
		got := outcome(t, l)
		want := []string{"[0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]", "[8 10 11 12 13 14 15] [8 10 11 12 13 14 15]"}
		if !slices.Equal(got, want) {
			t.Errorf("help %v: got %q, want %q", help, got, want)
		}
		if calls, most := ds.calls.Load(), int64(4); calls < 2 || calls > most {
			t.Errorf("help %v: %d calls of PlaceBatch, want 2 to %d", help, calls, most)
		}
	}
}

func TestBatchReadersMayComeLateToHelp(t *testing.T) {
	l := newLoader(t, &gatherer{fake: &fake{n: 4000}}, loader.Workers(8), loader.BatchSize(2), loader.InFlight(2))
	for range 3 { // so that the race detector sees late claims
		if got := len(collect(t, l, 0, 1)); got != 2000 {
			t.Errorf("%d batches, want 2000", got)
		}
	}
}
