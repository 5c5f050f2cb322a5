package stream_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
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
		ds := open(t, &numbers{n: -1}, dir, stream.Window(20), stream.BlockSize(1<<10), stream.MaxBytes(limit))
		l := loadertest.New(t, ds, loader.BatchSize(4), loader.Workers(2))
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
			ds := open(t, &numbers{n: -1}, t.TempDir(), stream.BlockSize(1<<10), stream.MaxBytes(8<<10))
			l := loadertest.New(t, ds, loader.BatchSize(4), loader.Workers(workers))
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
	ds := open(t, &numbers{n: -1}, t.TempDir(), stream.Window(1000), stream.BlockSize(1<<10), stream.MaxBytes(8<<10))
	_, _, err := ds.Await(t.Context(), 1, nil)
	if !errors.Is(err, stream.ErrFull) || !strings.Contains(err.Error(), "raise the limit") {
		t.Errorf("got %v", err)
	}
	large := open(t, &numbers{n: -1, at: 49}, t.TempDir(), stream.Window(2), stream.BlockSize(10), stream.MaxBytes(80))
	if _, _, err := large.Await(t.Context(), 10, nil); !errors.Is(err, stream.ErrFull) || !strings.Contains(err.Error(), "larger than MaxBytes") {
		t.Errorf("one block above the limit: got %v", err)
	}
}

func TestCommitKeepsTheWindowOfTheDraw(t *testing.T) {
	const n, window = 300, 25
	dir := t.TempDir()
	ds := open(t, &numbers{n: n}, dir, stream.Window(window), stream.BlockSize(200))
	l := loadertest.New(t, ds, loader.BatchSize(10))
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
	l := loadertest.New(t, ds, loader.BatchSize(10))
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
	if got := ds.Stats(); err != nil || len(left) != 1 || got.Used != used(t, dir) {
		t.Errorf("%v, %d files of %d bytes, %v", got, len(left), used(t, dir), err)
	}
}

// What was received before Close is in the spool, even if it is full.
func TestCloseSealsWhatWasReceived(t *testing.T) {
	dir := t.TempDir()
	source := &numbers{n: -1}
	ds, err := stream.New(source, dir, stream.BlockSize(1<<10), stream.MaxBytes(8<<10))
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
	again := open(t, source, dir, stream.BlockSize(1<<10), stream.MaxBytes(8<<10))
	if got := again.Stats().Next; got != source.at || used(t, dir) > 10<<10 {
		t.Errorf("the source gave %d records, the spool has %d in %d bytes", source.at, got, used(t, dir))
	}
}
