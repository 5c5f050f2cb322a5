package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

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
		ds, err := stream.New(seeking{source}, dir, stream.Window(window), stream.Seed(5), stream.BlockSize(700), stream.MaxBytes(12<<10))
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
	// Folders have the names with which blocks are written.
	taken := func(k int) string { return filepath.Join(dir, fmt.Sprintf("%020d.block.part", k)) }
	source := &numbers{n: n, wait: func(_ context.Context, i int) (err error) {
		for k := 0; i == 100 && k < n && err == nil; k++ {
			err = os.MkdirAll(filepath.Join(taken(k), "full"), 0o700)
		}
		return err
	}}
	ds := open(t, source, dir, stream.BlockSize(300))
	l := loadertest.New(t, ds, loader.BatchSize(10))
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
	for k := range n {
		if err := os.RemoveAll(taken(k)); err != nil {
			t.Fatal(err)
		}
	}
	for len(got) < n {
		for b, err := range l.From(t.Context(), position, 1) {
			if err != nil {
				if !strings.Contains(err.Error(), ".block") { // tried just before the names were free
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
