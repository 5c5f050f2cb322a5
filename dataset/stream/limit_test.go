package stream_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

// used is the number of bytes of all blocks.
func used(t testing.TB, dir string) (n int64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.block*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

func TestASlowLoopStopsTheSourceAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 16 << 10
		dir := t.TempDir()
		ds := open(t, &numbers{n: -1}, dir, stream.Window(20), stream.BlockSize(1<<10), stream.Limit(limit))
		l := newLoader(t, ds, loader.BatchSize(4), loader.Workers(2))
		want := order(20000, 20, 0)
		k := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait() // now all others wait
			if got := used(t, dir); got > limit || got < limit/2 || got != ds.Stats().Used || !ds.Stats().Full {
				t.Fatalf("after %d batches: %d bytes of %d: %v", k, got, limit, ds.Stats())
			}
			if got := checked(t, b); !slices.Equal(got, want[:4]) {
				t.Fatalf("batch %d: got %v, want %v", k, got, want[:4])
			}
			want = want[4:]
			if err := ds.Commit(b.Position().Draw); err != nil {
				t.Fatal(err)
			}
			if k++; k == 1000 {
				break
			}
		}
	})
}

// If only the loop body could make room, and it does not run, that is an error instead
// of a wait for ever.
func TestALoopThatNeverCommitsGetsErrFull(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			ds := open(t, &numbers{n: -1}, t.TempDir(), stream.BlockSize(1<<10), stream.Limit(8<<10))
			l := newLoader(t, ds, loader.BatchSize(4), loader.Workers(workers))
			position := l.Position(0)
			var got []int64
			for range 2 {
				var failed error
				for b, err := range l.From(t.Context(), position, 1) {
					if failed = err; err == nil {
						got = append(got, checked(t, b)...)
						position = b.Position()
					}
				}
				if !errors.Is(failed, stream.ErrFull) || !strings.Contains(failed.Error(), "call Commit more often") {
					t.Errorf("%d workers: after %d records: %v", workers, len(got), failed)
				}
				// What was there has been delivered, and after a Commit the next loop goes on.
				if have := ds.Stats().Next; len(got) < have-4 {
					t.Errorf("%d workers: %d records of %d", workers, len(got), have)
				}
				if err := ds.Commit(position.Draw); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, order(len(got), 1, 0)) {
				t.Errorf("%d workers: got %v", workers, got)
			}
		})
	}
}

func TestALimitTooSmallForTheWindowIsAnErrorAtOnce(t *testing.T) {
	ds := open(t, &numbers{n: -1}, t.TempDir(), stream.Window(1000), stream.BlockSize(1<<10), stream.Limit(8<<10))
	_, _, err := ds.Await(t.Context(), 1, nil)
	if !errors.Is(err, stream.ErrFull) || !strings.Contains(err.Error(), "too small for the window of records 0 to 999") {
		t.Errorf("got %v", err)
	}
	large := open(t, &numbers{n: -1, at: 49}, t.TempDir(), stream.Window(2), stream.BlockSize(10), stream.Limit(80))
	if _, _, err := large.Await(t.Context(), 10, nil); !errors.Is(err, stream.ErrFull) || !strings.Contains(err.Error(), "larger than Limit") {
		t.Errorf("one block above the limit: got %v", err)
	}
}

func TestCommitKeepsTheWindowOfTheDraw(t *testing.T) {
	const n, window = 300, 25
	dir := t.TempDir()
	ds := open(t, &numbers{n: n}, dir, stream.Window(window), stream.BlockSize(200))
	l := newLoader(t, ds, loader.BatchSize(10))
	batches := collect(t, l, l.Position(0), -1)
	want := order(n, window, 0)
	for _, b := range batches {
		draw := b.position.Draw
		if err := ds.Commit(draw); err != nil {
			t.Fatal(err)
		}
		if got := flat(collect(t, l, b.position, -1)); !slices.Equal(got, want[draw:]) {
			t.Errorf("after Commit(%d): got %v, want %v", draw, got, want[draw:])
		}
		if first := ds.Stats().First; first > draw-draw%window || draw-draw%window-first > 20 && draw < n {
			t.Errorf("after Commit(%d) the spool begins with record %d", draw, first)
		}
	}
	var last error
	for _, err := range l.Epoch(t.Context(), 0) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "no longer in the spool") {
		t.Errorf("from the beginning: %v", last)
	}
	for _, draw := range []int{-1, n + 1} {
		if err := ds.Commit(draw); err == nil {
			t.Errorf("Commit(%d): no error", draw)
		}
	}
}

// A block that cannot be removed stays in the spool, and the next Commit removes it.
func TestCommitRemovesLaterWhatItCouldNotRemove(t *testing.T) {
	const n = 200
	dir := t.TempDir()
	ds := open(t, &numbers{n: n}, dir, stream.BlockSize(300))
	l := newLoader(t, ds, loader.BatchSize(10))
	collect(t, l, l.Position(0), -1)
	path := blocks(t, dir)[1]
	if err := errors.Join(os.Rename(path, path+".moved"), os.MkdirAll(filepath.Join(path, "in", "the", "way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := ds.Commit(n); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
		t.Fatalf("got %v", err)
	}
	if err := errors.Join(os.RemoveAll(path), os.Rename(path+".moved", path)); err != nil {
		t.Fatal(err)
	}
	if err := ds.Commit(n); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.block"))
	if got := ds.Stats(); err != nil || len(left) != 1 || got.Blocks != 1 || got.Used != used(t, dir) {
		t.Errorf("%v, %d files of %d bytes, %v", got, len(left), used(t, dir), err)
	}
}

// A loop gets a record when it is sealed, long before a block is large, and the last
// window when the source ends.
func TestALoopDoesNotWaitForMoreThanItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan int)
		go func() {
			defer close(c)
			for i := range 20 {
				time.Sleep(time.Second)
				c <- i
			}
		}()
		spec := numbersSpec[:1]
		ds := open(t, stream.Channel(c, spec, func(v int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(v))
			return nil
		}), t.TempDir(), stream.Window(6))
		l := newLoader(t, ds, loader.BatchSize(3), loader.Workers(2))
		begun := time.Now()
		var at []time.Duration
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, time.Since(begun)/time.Second)
		}
		if want := []time.Duration{6, 6, 12, 12, 18, 18, 20}; !slices.Equal(at, want) {
			t.Errorf("batches came after %d seconds, want %d", at, want)
		}
	})
}

func TestCancelIsPromptAndLeavesNoGoroutine(t *testing.T) {
	for _, workers := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
			c := make(chan int)
			ds := open(t, stream.Channel(c, numbersSpec, func(int, dataset.Slot) error { return nil }), t.TempDir())
			l := newLoader(t, ds, loader.Workers(workers))
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
		})
	}
}

// What was received before Close is in the spool, even if it is full.
func TestCloseSealsWhatWasReceived(t *testing.T) {
	dir := t.TempDir()
	source := &numbers{n: -1}
	ds, err := stream.New(source, dir, stream.BlockSize(1<<10), stream.Limit(8<<10))
	if err != nil {
		t.Fatal(err)
	}
	idle := make(chan struct{})
	close(idle) // nobody will call Commit
	for n := 1; !ds.Stats().Full; n++ {
		if _, _, err := ds.Await(t.Context(), n, idle); err != nil && !errors.Is(err, stream.ErrFull) {
			t.Fatal(err)
		}
	}
	if err := ds.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, source, dir, stream.BlockSize(1<<10), stream.Limit(8<<10))
	if got := again.Stats().Next; got != source.at || used(t, dir) > 10<<10 {
		t.Errorf("the source gave %d records, the spool has %d in %d bytes", source.at, got, used(t, dir))
	}
}

// A storm of loops that break, are cancelled and go on, with a source that fails and a
// spool that is often full.
func TestStorm(t *testing.T) {
	const n, window = 3000, 40
	want := order(n, window, 5)
	random := rand.New(rand.NewPCG(1, 2))
	source := &numbers{n: n, fail: map[int]error{}}
	for k := 100; k < n; k += 333 {
		source.fail[k] = errBroken
	}
	dir := t.TempDir()
	var position loader.Position
	var got []int64
	for loops := 0; len(got) < n; loops++ {
		ds, err := stream.New(seeking{source}, dir, stream.Window(window), stream.Seed(5), stream.BlockSize(700), stream.Limit(12<<10))
		if err != nil {
			t.Fatal(err)
		}
		l, err := loader.New(ds, loader.BatchSize(1+random.IntN(30)), loader.Workers(random.IntN(5)))
		if err != nil {
			t.Fatal(err)
		}
		if loops == 0 {
			position = l.Position(0)
		}
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			stop := 1 + random.IntN(20)
			var group sync.WaitGroup
			if random.IntN(3) == 0 {
				group.Go(cancel)
			}
			for b, err := range l.From(ctx, position, 1) {
				if err != nil {
					if !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) && !errors.Is(err, stream.ErrFull) {
						t.Fatal(err)
					}
					break
				}
				got = append(got, checked(t, b)...)
				position = b.Position()
				if random.IntN(2) == 0 {
					if err := ds.Commit(position.Draw); err != nil {
						t.Fatal(err)
					}
				}
				if stop--; stop == 0 {
					break
				}
			}
			cancel()
			group.Wait()
			if err := ds.Commit(position.Draw); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.Close(), ds.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records differ from the %d of the stream", len(got), len(want))
	}
}

// A block that cannot be written ends the loop. Its records are kept, and written when
// that is possible again.
func TestAWriteErrorEndsTheLoopAndLosesNothing(t *testing.T) {
	const n = 200
	dir := filepath.Join(t.TempDir(), "spool")
	moved := dir + ".moved"
	source := &numbers{n: n, wait: func(_ context.Context, i int) error {
		if i == 100 {
			return os.Rename(dir, moved)
		}
		return nil
	}}
	ds := open(t, source, dir, stream.BlockSize(300))
	l := newLoader(t, ds, loader.BatchSize(10))
	position := l.Position(0)
	var got []int64
	var failed error
	for b, err := range l.From(t.Context(), position, 1) {
		if failed = err; err == nil {
			position = b.Position()
			got = append(got, loader.Values[int64](b, "n")...)
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), ".block") {
		t.Errorf("after %d records: %v", len(got), failed)
	}
	if err := os.Rename(moved, dir); err != nil {
		t.Fatal(err)
	}
	for len(got) < n {
		for b, err := range l.From(t.Context(), position, 1) {
			if err != nil {
				if !strings.Contains(err.Error(), ".block") { // tried just before the folder was back
					t.Fatal(err)
				}
				break
			}
			position = b.Position()
			got = append(got, loader.Values[int64](b, "n")...)
		}
	}
	if !slices.Equal(got, order(n, 1, 0)) {
		t.Errorf("got %v", got)
	}
}

// A loop gets the records that it needs, also if another one waits for more, or has.
func TestALoopDoesNotWaitForTheNeedsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := func(ctx context.Context, i int) error {
			if i < 5 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ds := open(t, &numbers{n: -1, wait: stalls}, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if _, _, err := ds.Await(ctx, 100, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		for _, n := range []int{3, 5} {
			if have, _, err := ds.Await(t.Context(), n, nil); have < n || err != nil {
				t.Errorf("Await(%d): got %d, %v", n, have, err)
			}
		}
		cancel()
		group.Wait()
	})
}

// Two loops over one spool at once get the same.
func TestTwoLoopsShareASpool(t *testing.T) {
	const n = 2000
	ds := open(t, &numbers{n: n}, t.TempDir(), stream.Window(60), stream.BlockSize(1<<10))
	var group sync.WaitGroup
	for workers := range 2 {
		l := newLoader(t, ds, loader.BatchSize(7), loader.Workers(workers+1))
		group.Go(func() {
			var got []int64
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, loader.Values[int64](b, "n")...)
			}
			if !slices.Equal(got, order(n, 60, 0)) {
				t.Errorf("%d records that differ", len(got))
			}
		})
	}
	group.Wait()
}

// A queue gives records again until they are acknowledged, and never after that.
func TestAQueueIsAcknowledgedWhatIsSealed(t *testing.T) {
	const n = 200
	queue := &queue{numbers: &numbers{n: n}}
	dir := t.TempDir()
	var got []int64
	var position loader.Position
	for k := 0; len(got) < n; k++ {
		queue.at = queue.safe // a new consumer gets what is not acknowledged
		ds, err := stream.New(queue, dir, stream.BlockSize(300))
		if err != nil {
			t.Fatal(err)
		}
		queue.sealed = func() int { return ds.Stats().Next }
		l, err := loader.New(ds, loader.BatchSize(8))
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			position = l.Position(0)
		}
		for _, b := range collect(t, l, position, 3) {
			got, position = append(got, b.records...), b.position
		}
		if err := errors.Join(l.Close(), ds.Close()); err != nil {
			t.Fatal(err)
		}
		if k%2 == 0 { // the last acknowledgement is lost, as if the process was killed before it
			queue.safe = max(0, queue.before)
		}
	}
	if !slices.Equal(got, order(n, 1, 0)) {
		t.Errorf("got %v", got)
	}
}

type queue struct {
	*numbers
	before, safe int // acknowledged
	sealed       func() int
}

func (q *queue) Acknowledge(_ context.Context, mark []byte) error {
	at := seeking{&numbers{}}
	if err := at.Seek(context.Background(), mark); err != nil {
		return err
	}
	if at.at > q.sealed() {
		return errors.New("acknowledged before it is sealed")
	}
	q.before, q.safe = q.safe, at.at
	q.at = max(q.at, q.safe)
	return nil
}
