//go:build cgo

package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// doubling is a net that takes a second and gives twice the values. It counts the
// rows of its runs.
type doubling struct {
	took time.Duration
	mu   sync.Mutex
	runs []int
}

func (d *doubling) run(x, y []float32, n int) error {
	d.mu.Lock()
	d.runs = append(d.runs, n)
	d.mu.Unlock()
	time.Sleep(d.took) // of the bubble's clock
	for i, v := range x {
		y[i] = 2 * v
	}
	return nil
}

// ask sends one value, which takes a while to write, and checks what comes back.
func ask(t *testing.T, b *batcher, v float32, writing time.Duration) (took time.Duration) {
	t.Helper()
	begun := time.Now()
	r, err := b.classify(t.Context(), func(row []float32) error {
		time.Sleep(writing)
		row[0] = v
		return nil
	})
	if err != nil || len(r.logits) != 1 || r.logits[0] != 2*v {
		t.Errorf("%v: got %v, %v, want %v", v, r.logits, err, 2*v)
	}
	return time.Since(begun)
}

func TestARequestAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{took: time.Second}
		b := newBatcher(batcherConfig{net: d.run, size: 8, values: 1, classes: 1, wait: time.Hour})
		defer b.close()
		for range 3 {
			if took := ask(t, b, 3, 0); took != time.Second {
				t.Errorf("it took %v, the net takes %v", took, time.Second)
			}
		}
	})
}

func TestRequestsThatArriveWhileTheNetIsBusyShareItsNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{took: time.Second}
		b := newBatcher(batcherConfig{net: d.run, size: 4, values: 1, classes: 1, wait: time.Hour})
		defer b.close()
		var group sync.WaitGroup
		for k := range 7 {
			group.Go(func() { ask(t, b, float32(k), 0) })
			synctest.Wait()
		}
		group.Wait()
		if want := []int{1, 4, 2}; !slices.Equal(d.runs, want) {
			t.Errorf("runs of %v rows, want %v", d.runs, want)
		}
	})
}

func TestLateRowsPutOffTheFirstForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{}
		wait, writing := 5*time.Second, 2*time.Second
		b := newBatcher(batcherConfig{net: d.run, size: 1000, values: 1, classes: 1, wait: wait})
		defer b.close()
		var group sync.WaitGroup
		var first time.Duration
		group.Go(func() { first = ask(t, b, 1, writing) })
		for range 20 { // somebody is always writing
			time.Sleep(time.Second)
			group.Go(func() { ask(t, b, 2, writing) })
		}
		group.Wait()
		if first > wait+writing {
			t.Errorf("the first request took %v, want at most %v", first, wait+writing)
		}
		if d.runs[0] < 3 {
			t.Errorf("the first run had %d rows", d.runs[0])
		}
	})
}

func TestAFailedRowLeavesTheOthersTheirResults(t *testing.T) {
	bad := errors.New("bad image")
	for _, failing := range [][]int{{0}, {3}, {1, 2}, {0, 1, 2, 3}, {0, 3}, {2, 3}} {
		synctest.Test(t, func(t *testing.T) {
			d := &doubling{took: time.Second}
			b := newBatcher(batcherConfig{net: d.run, size: 4, values: 1, classes: 1, wait: time.Hour})
			defer b.close()
			var group sync.WaitGroup
			group.Go(func() { ask(t, b, 9, 0) }) // keeps the net busy
			synctest.Wait()
			for k := range 4 {
				group.Go(func() {
					if !slices.Contains(failing, k) {
						ask(t, b, float32(k), 0)
						return
					}
					if _, err := b.classify(t.Context(), func([]float32) error { return bad }); err != bad {
						t.Errorf("row %d: got %v, want %v", k, err, bad)
					}
				})
				synctest.Wait()
			}
			group.Wait()
			want := []int{1, 4 - len(failing)}
			if want[1] == 0 {
				want = want[:1]
			}
			if !slices.Equal(d.runs, want) {
				t.Errorf("%v fail: runs of %v rows, want %v", failing, d.runs, want)
			}
		})
	}
}

func TestAPanicWhileWritingHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{}
		b := newBatcher(batcherConfig{net: d.run, size: 4, values: 1, classes: 1, wait: time.Hour})
		defer b.close()
		func() {
			defer func() { recover() }()
			b.classify(t.Context(), func([]float32) error { panic("in a transform") })
		}()
		ask(t, b, 1, 0)
		if want := []int{1}; !slices.Equal(d.runs, want) {
			t.Errorf("runs of %v rows, want %v", d.runs, want)
		}
	})
}

func TestTheNetsErrorReachesAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken net")
		b := newBatcher(batcherConfig{net: func([]float32, []float32, int) error { return broken }, size: 4, values: 1, classes: 1})
		defer b.close()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, err := b.classify(t.Context(), func([]float32) error { return nil }); err != broken {
					t.Errorf("got %v", err)
				}
			})
		}
		group.Wait()
	})
}

func TestAClosedBatcherAnswersWhatItHasAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{took: 10 * time.Second}
		b := newBatcher(batcherConfig{net: d.run, size: 2, values: 1, classes: 1, wait: time.Hour})
		var group sync.WaitGroup
		for range 3 { // one runs, two are written
			group.Go(func() { ask(t, b, 4, time.Second/2) })
			time.Sleep(time.Second)
		}
		group.Go(b.close)
		group.Wait()
		if _, err := b.classify(t.Context(), func([]float32) error { return nil }); err != errClosed {
			t.Errorf("got %v, want %v", err, errClosed)
		}
	})
}

func TestARequestThatIsCancelledLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubling{took: time.Hour}
		b := newBatcher(batcherConfig{net: d.run, size: 1, values: 1, classes: 1})
		defer b.close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var group sync.WaitGroup
		for range 4 { // one runs, one is written, two wait for a row
			group.Go(func() {
				begun := time.Now()
				_, err := b.classify(ctx, func([]float32) error { return nil })
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
					t.Errorf("after %v: %v", time.Since(begun), err)
				}
			})
		}
		group.Wait()
	})
}
