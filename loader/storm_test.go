package loader_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

var (
	stormFor  = flag.Duration("storm", 0, "run every test of random storms for so `long`, with new seeds, and not a fixed number of them")
	stormSeed = flag.Uint64("stormseed", 0, "run the one storm with this `seed`, which a failure prints, until it fails or -storm is over")
)

// storms calls f again and again, each time with other random numbers. A failure prints their seed.
func storms(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	if testing.Short() {
		n /= 5
	}
	begun, seed, next := time.Now(), uint64(1), uint64(1)
	switch {
	case *stormSeed > 0:
		seed, next, n = *stormSeed, 0, 1
	case *stormFor > 0:
		seed = uint64(begun.UnixNano())
	}
	first, count := seed, 0
	for ; count < n && *stormFor == 0 || time.Since(begun) < *stormFor; count++ {
		func() {
			defer func() { // also if f ends the test
				if t.Failed() {
					t.Fatalf("again with -run '^%s$' -stormseed %d", t.Name(), seed)
				}
			}()
			f(t, rand.New(rand.NewPCG(seed, 1)))
		}()
		seed += next
	}
	t.Logf("%d storms with the seeds from %d on", count, first)
}

// A trouble is what a storm's dataset does instead of placing a sample.
type trouble func(ctx context.Context) error

// newTrouble is a random trouble.
func newTrouble(hang <-chan struct{}, r *rand.Rand) trouble {
	pause := time.Duration(r.IntN(300)) * time.Microsecond
	all := []trouble{
		func(context.Context) error { return errBad },
		func(context.Context) error { panic("broken") },
		func(context.Context) error { time.Sleep(pause); return nil },
		func(context.Context) error { runtime.Goexit(); return nil },
		func(context.Context) error { <-hang; return nil }, // without watching its context
	}
	return all[r.IntN(len(all))]
}

// stormy is a dataset of two fields, one of them ragged, with some troubles.
type stormy struct {
	*fake
	batches bool
}

func newStormy(n int, r *rand.Rand, hang <-chan struct{}) stormy {
	at := map[int]trouble{}
	for range r.IntN(4) {
		at[r.IntN(n)] = newTrouble(hang, r)
	}
	ds := augmented(n)
	place := ds.place
	ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
		if x := at[i]; x != nil {
			if err := x(ctx); err != nil {
				return err
			}
		}
		return place(ctx, i, dst)
	}
	return stormy{ds, r.IntN(3) == 0}
}

func (s stormy) Open() (dataset.Reader, error) {
	one := fakeReader{s.fake}
	if s.batches {
		return gatherReader{one, &gatherer{fake: s.fake}}, nil
	}
	return one, nil
}

// A slowly sampler is slow for some epochs.
type slowly struct {
	sampler.Sampler
	each time.Duration
}

func (s slowly) Epoch(epoch int) sampler.Order {
	time.Sleep(s.each)
	return s.Sampler.Epoch(epoch)
}

// someWorkers sets the number of workers. One time in three there is at least one and the
// loader changes the number all the time. One time in six it is Auto's own choice.
func someWorkers(r *rand.Rand, workers int) loader.Option {
	choice := r.IntN(6)
	switch {
	case workers == 0 || choice > 2:
		return loader.Workers(workers)
	case choice == 2:
		return loader.Options(loader.Workers(loader.Auto), loader.Budget(1<<20))
	}
	whims := rand.New(rand.NewPCG(r.Uint64(), 1))
	return loader.Options(loader.Workers(loader.Auto), loader.Budget(1<<20), loader.Restless(1+r.IntN(9), whims.IntN))
}

// stormOptions are random options.
func stormOptions(n int, r *rand.Rand, workers int) []loader.Option {
	flip := func() bool { return r.IntN(2) == 0 }
	options := []loader.Option{
		someWorkers(r, workers), loader.Help(flip()), loader.Unordered(flip()), loader.Seed(r.Uint64N(9)),
	}
	if flip() {
		options = append(options, loader.Skip([]int{0, 1, 2, 3, 4, loader.NoLimit}[r.IntN(6)]))
	}
	if flip() {
		options = append(options, loader.InFlight(1+r.IntN(6)))
	}
	if r.IntN(3) == 0 {
		return append(options, loader.BatchSampler(sampler.ByLength(make([]int, n), r.Uint64N(5), sampler.BatchSize(1+r.IntN(7)))))
	}
	options = append(options, loader.BatchSize(1+r.IntN(7)), loader.DropLast(flip()))
	switch r.IntN(4) {
	case 0:
		return append(options, loader.Sampler(slowly{sampler.Shuffle(n, 1), time.Duration(r.IntN(400)) * time.Microsecond}))
	case 1:
		s, err := sampler.Shard(sampler.Shuffle(n, 1), r.IntN(3), 3, sampler.Mode(r.IntN(3)))
		if err != nil {
			panic(err)
		}
		return append(options, loader.Sampler(s))
	}
	return append(options, loader.Shuffle(flip()))
}

// TestStorm ends loops with random options over troubled samples at random places
// in random ways, resumes them, and keeps and copies some batches. What
// was kept stays as it was, and nothing is left in the end.
func TestStorm(t *testing.T) {
	storms(t, 1500, storm)
}

func storm(t *testing.T, r *rand.Rand) {
	const n = 60
	hang := make(chan struct{})
	hung := sync.OnceFunc(func() { close(hang) })
	defer hung()
	memory := new(checked)
	options := append(stormOptions(n, r, r.IntN(6)), loader.Timeout(time.Duration(1+r.IntN(8))*time.Millisecond), loader.Memory(memory), loader.Poison(true))
	l, err := loader.New(newStormy(n, r, hang), options...)
	if err != nil {
		t.Fatal(err)
	}
	var kept []heldBatch
	p := l.Position(0)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		after := r.IntN(40)
		var others sync.WaitGroup
		if r.IntN(2) == 0 {
			looks := after * 20
			others.Go(func() {
				for range looks {
					l.Stats()
				}
				cancel()
			})
		}
		if r.IntN(10) == 0 {
			others.Go(func() { l.Close() })
		}
		if r.IntN(3) == 0 {
			others.Go(func() { time.Sleep(3 * time.Millisecond); hung() })
		}
		for b, err := range l.From(ctx, p, 2) {
			if err != nil {
				expected(t, err)
				break
			}
			if b.Len() == 0 || len(b.Indices()) != b.Len() {
				t.Fatalf("%v has %d indices", b, len(b.Indices()))
			}
			for row, i := range b.Indices() {
				if got := loader.Values[int64](b, "x")[row]; got != int64(i) {
					t.Fatalf("%v: row %d is of sample %d and holds %d", b, row, i, got)
				}
			}
			p = b.Position()
			if r.IntN(8) == 0 && len(kept) < 3 {
				kept = append(kept, hold(b, r))
			}
			if after--; after < 0 {
				break
			}
		}
		others.Wait()
		cancel()
	}
	hung()
	if err := l.Close(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	for _, h := range kept {
		if got := content(h.batch); got != h.content {
			t.Errorf("%v held %s and holds %s", h.batch, h.content, got)
		}
		h.release()
	}
	memory.emptied(t)
}

// emptied waits until everything is freed. Stuck workers free their memory some time
// after their calls have returned.
func (c *checked) emptied(t *testing.T) {
	t.Helper()
	left := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.out)
	}
	for range 10_000 {
		if left() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d pieces of memory are not freed", left())
}

// A heldBatch is one that outlives its loop body.
type heldBatch struct {
	batch   *loader.Batch
	content string
	release func()
}

func hold(b *loader.Batch, r *rand.Rand) heldBatch {
	h := heldBatch{b, content(b), func() {}}
	if r.IntN(2) == 0 {
		h.batch = b.Copy()
	} else {
		h.release = b.Keep()
	}
	return h
}

// expected reports an error that no trouble explains.
func expected(t *testing.T, err error) {
	t.Helper()
	var stopped *dataset.PanicError
	known := []error{errBad, loader.ErrClosed, context.Canceled, os.ErrDeadlineExceeded}
	if !errors.As(err, &stopped) && !strings.Contains(fmt.Sprint(err), "runtime.Goexit was called") && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		t.Errorf("got %v", err)
	}
}

// TestStormOfResumes interrupts loops without troubles and resumes them with other
// options: nothing is lost, repeated or changed.
func TestStormOfResumes(t *testing.T) {
	storms(t, 300, func(t *testing.T, r *rand.Rand) {
		const n = 50
		size, unordered := 1+r.IntN(7), r.IntN(2) == 0
		s := sampler.Shuffle(n, r.Uint64())
		fresh := func() *loader.Loader {
			l, err := loader.New(augmented(n), loader.Sampler(s), loader.BatchSize(size), someWorkers(r, r.IntN(5)),
				loader.InFlight(1+r.IntN(6)), loader.Help(r.IntN(2) == 0), loader.Unordered(unordered))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		whole := fresh()
		defer whole.Close()
		var want, got []string
		for b := range whole.Epochs(t.Context(), 0, 3) {
			want = append(want, content(b))
		}
		p := whole.Position(0)
		for len(got) < len(want) {
			l := fresh()
			stop, before := 1+r.IntN(9), len(got)
			for b, err := range l.From(t.Context(), p, 3) {
				if err != nil {
					t.Fatal(err)
				}
				got, p = append(got, content(b)), b.Position()
				if stop--; stop == 0 {
					break
				}
			}
			if err := l.Close(); err != nil || len(got) == before {
				t.Fatalf("nothing after %v: %v", p, err)
			}
		}
		if unordered {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestStormOfRanksAndShortEpochs stops all ranks of a run over very short epochs after the same
// batch, and goes on from the position of any of them that had it, if samples are shared exactly also
// with another number of ranks and another batch size. Every epoch's samples come as often as they
// are to come, and ranks agree on their positions.
func TestStormOfRanksAndShortEpochs(t *testing.T) {
	storms(t, 400, func(t *testing.T, r *rand.Rand) {
		n, epochs := 1+r.IntN(40), 1+r.IntN(4)
		mode := sampler.Mode(r.IntN(3))
		s := sampler.Shuffle(n, r.Uint64())
		workers := []int{r.IntN(5), r.IntN(5)}
		ranks := func(world, size int) (all []*loader.Loader) {
			for rank := range world {
				l, err := loader.New(augmented(n), loader.Sampler(s), loader.BatchSize(size), loader.Ranks(rank, world, mode),
					someWorkers(r, workers[rank%2]), loader.InFlight(1+r.IntN(4)), loader.Help(r.IntN(2) == 0))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, l)
			}
			return all
		}
		closes := func(all []*loader.Loader) {
			for _, l := range all {
				if workers := l.Stats().Workers; workers > max(runtime.GOMAXPROCS(0), n, 10) {
					t.Errorf("%d workers for epochs of %d samples", workers, n)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		times := make([]map[string]int, epochs) // samples of every epoch
		for e := range times {
			times[e] = map[string]int{}
		}
		world, size := 1+r.IntN(6), 1+r.IntN(7)
		stop := r.IntN(1 + epochs*(1+n/(world*size)))
		before := ranks(world, size)
		defer closes(before)
		position, agreed := before[0].Position(0), map[string]string{} // by epoch and batch
		for rank, l := range before {
			for b, err := range l.Epochs(t.Context(), 0, epochs) {
				if err != nil {
					t.Fatal(err)
				}
				place := fmt.Sprint(b.Epoch(), " ", b.Number())
				p := fmt.Sprint(b.Position())
				if first, ok := agreed[place]; ok && p != first {
					t.Errorf("%d samples, %d ranks, batches of %d: after epoch and batch %s rank %d is at %s, another one at %s", n, world, size, place, rank, p, first)
				}
				agreed[place] = p
				// Ranks stop after the same batch of the same epoch, or at the end of the epoch before it.
				if at := stopsAt(before[0], stop); b.Epoch() > at[0] || b.Epoch() == at[0] && b.Number() >= at[1] {
					break
				}
				for _, sample := range samples(b) {
					times[b.Epoch()][sample]++
				}
				if rank == 0 { // which has as many batches as any
					position = b.Position()
				}
			}
		}
		if mode == sampler.KeepExact {
			world, size = 1+r.IntN(6), 1+r.IntN(7)
		}
		after := ranks(world, size)
		defer closes(after)
		for _, l := range after {
			for b, err := range l.From(t.Context(), position, epochs) {
				if err != nil {
					t.Fatal(err)
				}
				for _, sample := range samples(b) {
					times[b.Epoch()][sample]++
				}
			}
		}
		want := ranks(world, size)
		defer closes(want)
		for e := range epochs {
			all := map[string]int{}
			for _, l := range want {
				for b := range l.Epoch(t.Context(), e) {
					for _, sample := range samples(b) {
						all[sample]++
					}
				}
			}
			if fmt.Sprint(all) != fmt.Sprint(times[e]) {
				t.Errorf("%v, %d samples, resumed at %+v on %d ranks: epoch %d has\n%v, want\n%v", mode, n, position, world, e, times[e], all)
			}
		}
	})
}

// stopsAt is the epoch and the number of the batch at which a run stops after so many batches of
// this loader.
func stopsAt(l *loader.Loader, batches int) [2]int {
	for epoch := 0; ; epoch++ {
		n, err := l.Len(l.Position(epoch))
		switch {
		case err != nil:
			panic(err)
		case n == 0:
			return [2]int{math.MaxInt, 0} // there are no batches in any epoch
		case batches < n:
			return [2]int{epoch, batches}
		}
		batches -= n
	}
}
