package loader_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// combinations calls f in a bubble of simulated time for many random combinations.
func combinations(t *testing.T, n int, f func(t *testing.T, c *combination, r *rand.Rand)) {
	onTwoProcessors(t)
	storms(t, n, func(t *testing.T, r *rand.Rand) {
		synctest.Test(t, func(t *testing.T) { f(t, newCombination(r), r) })
	})
}

func mustNew(t *testing.T, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestNothingButTheCombinationDecidesTheBatches: not the number of workers, their changes by
// Auto, the memory, Help, hooks, Unordered, or interruptions after which another loader, in
// another manner, resumes at a position that was JSON in between.
func TestNothingButTheCombinationDecidesTheBatches(t *testing.T) {
	combinations(t, 400, func(t *testing.T, c *combination, r *rand.Rand) {
		plain := mustNew(t, c.dataset(), append(slices.Clone(c.options), loader.Workers(0))...)
		want, _ := c.batches(t, plain, plain.Position(0), -1)
		p := plain.Position(0)
		if err := plain.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		unordered := r.IntN(3) == 0
		for len(got) < len(want) {
			options, check := c.manner(t, r, unordered)
			l := mustNew(t, c.dataset(), options...)
			most := -1
			if r.IntN(2) == 0 {
				most = 1 + r.IntN(6)
			}
			some, after := c.batches(t, l, p, most)
			if n := c.placing.Load(); n != 0 {
				t.Errorf("%d samples are being placed after the loop", n)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			check()
			text, err := json.Marshal(after)
			if err != nil {
				t.Fatal(err)
			}
			p = loader.Position{}
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			if got = append(got, some...); len(some) == 0 {
				t.Fatalf("%d batches, and none after %+v, want %d", len(got), p, len(want))
			}
		}
		if unordered {
			slices.Sort(got)
			slices.Sort(want)
		}
		for k := range min(len(got), len(want)) {
			if got[k] != want[k] {
				t.Fatalf("batch %d:\ngot  %s\nwant %s", k, got[k], want[k])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d batches, want %d", len(got), len(want))
		}
	})
}

// TestNothingIsLeftWhereverALoopEnds: by its context, Close, a panic of its body or break,
// at any time.
func TestNothingIsLeftWhereverALoopEnds(t *testing.T) {
	combinations(t, 400, func(t *testing.T, c *combination, r *rand.Rand) {
		options, check := c.manner(t, r, r.IntN(2) == 0)
		l := mustNew(t, c.dataset(), options...)
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			after := time.Duration(r.IntN(100_000)) * time.Microsecond / time.Duration(1+r.IntN(20))
			begun := time.Now()
			body := func() bool { time.Sleep(time.Millisecond); return true }
			var group sync.WaitGroup
			switch r.IntN(4) {
			case 0:
				group.Go(func() { time.Sleep(after); cancel() })
			case 1:
				body = func() bool { time.Sleep(time.Millisecond); return time.Since(begun) < after }
			case 2:
				body = func() bool {
					if time.Since(begun) >= after {
						panic(errBad)
					}
					return true
				}
			case 3:
				if r.IntN(3) == 0 {
					group.Go(func() { time.Sleep(after); l.Close() })
				}
			}
			func() {
				defer func() {
					if v := recover(); v != nil && v != any(errBad) {
						panic(v)
					}
				}()
				for _, err := range l.Epochs(ctx, 0, c.epochs) {
					if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, loader.ErrClosed) {
						t.Error(err)
					}
					if !body() {
						break
					}
				}
			}()
			if n := c.placing.Load(); n != 0 {
				t.Errorf("%d samples are being placed after the loop", n)
			}
			group.Wait()
			cancel()
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		check()
	})
}
