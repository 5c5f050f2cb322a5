package loader_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slow is a fake whose samples take time to place, or until their context is done.
func slow(n int, each func(i int) time.Duration) *fake {
	return &fake{n: n, place: func(ctx context.Context, i int, dst dataset.Slot) error {
		dst.Stage("fetch")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(each(i)):
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	}}
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// checked is an Allocator that knows which memory has not been freed.
type checked struct {
	loader.Heap
	mu  sync.Mutex
	out map[*byte]int
}

func (c *checked) Alloc(n int) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.Heap.Alloc(n)
	if c.out == nil {
		c.out = map[*byte]int{}
	}
	c.out[&b[0]] = len(b)
	return b, err
}

func (c *checked) Free(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out[&b[0]] != len(b) {
		return errors.New("freed what was not allocated")
	}
	delete(c.out, &b[0])
	return nil
}

func TestNoGoroutineOutlivesTheLoop(t *testing.T) {
	ends := map[string]func(ctx context.Context, l *loader.Loader) error{
		"break": func(ctx context.Context, l *loader.Loader) error {
			for range l.Epoch(ctx, 0) {
				break
			}
			return nil
		},
		"error": func(ctx context.Context, l *loader.Loader) (last error) {
			for _, err := range l.Epochs(ctx, 0, 1) {
				last = err
			}
			return last
		},
		"cancel": func(ctx context.Context, l *loader.Loader) (last error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			for _, err := range l.Epoch(ctx, 0) {
				cancel()
				last = err
			}
			if !errors.Is(last, context.Canceled) {
				return errors.New("the loop did not get the context's error")
			}
			return nil
		},
		"panic": func(ctx context.Context, l *loader.Loader) error {
			defer func() { recover() }()
			for range l.Epoch(ctx, 0) {
				panic("in the body")
			}
			return errors.New("no panic")
		},
		"close": func(ctx context.Context, l *loader.Loader) (last error) {
			for b, err := range l.Epoch(ctx, 0) {
				if err == nil {
					if closeErr := l.Close(); closeErr != nil {
						return closeErr
					}
					if len(b.Bytes("x")) == 0 || b.Indices()[0] != 0 {
						return errors.New("Close took the batch out of the body's hands")
					}
				}
				last = err
			}
			if !errors.Is(last, loader.ErrClosed) {
				return errors.New("the loop did not get ErrClosed")
			}
			return nil
		},
	}
	for name, end := range ends {
		for _, workers := range []int{0, 1, 5} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					memory := new(checked)
					closed := new(atomic.Int32)
					ds := slow(40, always(time.Millisecond))
					ds.open = func() error { closed.Add(-1); return nil }
					ds.close = func() error { closed.Add(1); return nil }
					if name == "error" {
						ds.place = failing(40, func(i int) bool { return i == 7 }).place
					}
					l, err := loader.New(ds, loader.Workers(workers), loader.BatchSize(4), loader.Memory(memory))
					if err != nil {
						t.Fatal(err)
					}
					err = end(t.Context(), l)
					if name == "error" {
						if !errors.Is(err, errBad) {
							t.Errorf("got %v", err)
						}
					} else if err != nil {
						t.Error(err)
					}
					// The bubble reports a deadlock if a goroutine is left; this finds it sooner.
					synctest.Wait()
					if err := l.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
					if err := l.Close(); err != nil {
						t.Errorf("second Close: %v", err)
					}
					if len(memory.out) != 0 {
						t.Errorf("%d slabs are not freed", len(memory.out))
					}
					if n := closed.Load(); n != 0 {
						t.Errorf("%d readers are not closed", -n)
					}
					for _, err := range l.Epoch(t.Context(), 0) {
						if !errors.Is(err, loader.ErrClosed) {
							t.Errorf("a loop over a closed loader got %v", err)
						}
					}
				})
			})
		}
	}
}

func TestOneLoopAtATime(t *testing.T) {
	l := loadertest.New(t, &fake{n: 4}, loader.Workers(2))
	for range l.Epoch(t.Context(), 0) {
		for _, err := range l.Epoch(t.Context(), 0) {
			if err == nil || err.Error() != "loader: another loop over this loader is running" {
				t.Errorf("got %v", err)
			}
		}
	}
	if got := len(collect(t, l, 0, 1)); got != 4 {
		t.Errorf("afterwards the loader gave %d batches", got)
	}
}

func TestTwoLoadersAtOnce(t *testing.T) {
	a := loadertest.New(t, &fake{n: 6}, loader.Workers(2), loader.BatchSize(2))
	b := loadertest.New(t, &fake{n: 6}, loader.Workers(2), loader.BatchSize(3))
	n := 0
	for range a.Epoch(t.Context(), 0) {
		n += 10 * len(collect(t, b, 0, 1))
	}
	if n != 3*20 {
		t.Errorf("got %d, want 60", n)
	}
}

func TestKeptBatchStaysAsItWas(t *testing.T) {
	memory := new(checked)
	l, err := loader.New(&fake{n: 40}, loader.Workers(2), loader.BatchSize(2), loader.Memory(memory))
	if err != nil {
		t.Fatal(err)
	}
	var kept *loader.Batch
	var release func()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() == 3 {
			kept, release = b, b.Keep()
		}
	}
	for range 3 { // the loader works with one slab fewer
		if got := len(collect(t, l, 0, 1)); got != 20 {
			t.Errorf("%d batches, want 20", got)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := loader.Values[int64](kept, "x"); got[0] != 6 || got[1] != 7 {
		t.Errorf("the kept batch holds %v", got)
	}
	release()
	release()
	if len(memory.out) != 0 {
		t.Errorf("%d slabs are not freed", len(memory.out))
	}
	defer func() {
		if recover() == nil {
			t.Error("a released batch can still be used")
		}
	}()
	kept.Tensor("x")
}

func TestSlabKeptFromAnEarlierLoopComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.InFlight(1), loader.BatchSize(2))
		var release func()
		for b := range l.Epoch(t.Context(), 0) {
			release = b.Keep()
			break
		}
		go func() {
			time.Sleep(time.Second)
			release()
		}()
		if got := len(collect(t, l, 0, 1)); got != 4 {
			t.Errorf("%d batches, want 4", got)
		}
	})
}
