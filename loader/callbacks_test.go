package loader_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// An asker is all code of a user that a loader calls. Every call asks the loader what it does, which
// takes the loader's mutexes.
type asker struct {
	l    atomic.Pointer[loader.Loader]
	mu   sync.Mutex
	seen map[string]int
	now  map[string]int // calls that have not returned
}

// asks is called by what has that name. Working asks for names itself.
func (a *asker) asks(name string) {
	l := a.l.Load()
	if l == nil {
		return // New has not made it yet
	}
	a.mu.Lock()
	a.seen[name]++
	a.now[name]++
	a.mu.Unlock()
	l.Stats()
	if name != "Name" {
		l.Working()
	}
	a.mu.Lock()
	a.now[name]--
	a.mu.Unlock()
}

func (a *asker) list(calls map[string]int) (names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, n := range calls {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *asker) Len() int { return 40 }

func (a *asker) Spec() dataset.Spec {
	return dataset.Spec{{Name: "x", Dtype: dataset.Int64}}
}

func (a *asker) Open() (dataset.Reader, error) { a.asks("Open"); return a, nil }
func (a *asker) Close() error                  { a.asks("Reader.Close"); return nil }
func (a *asker) Name(int) string               { a.asks("Name"); return "a sample" }
func (a *asker) Epoch(int) sampler.Order       { a.asks("Sampler.Epoch"); return order{a} }
func (a *asker) Alloc(n int) ([]byte, error)   { a.asks("Alloc"); return loader.Heap{}.Alloc(n) }
func (a *asker) Free(p []byte) error           { a.asks("Free"); return loader.Heap{}.Free(p) }

func (a *asker) Foresee(f dataset.Future) (stop func()) {
	a.asks("Foresee")
	f.At(0, nil)
	return func() { a.asks("stop") }
}

func (a *asker) Place(_ context.Context, i int, dst dataset.Slot) error {
	a.asks("Place")
	dataset.Set(dst, 0, int64(i))
	return nil
}

// An order is that of the indices.
type order struct{ *asker }

func (o order) At(k int) int { o.asks("Order.At"); return k }

// Whoever is called while the loader's mutex is locked waits for ever.
func TestNoCodeOfAUserRunsWithTheLoadersMutex(t *testing.T) {
	a := &asker{seen: map[string]int{}, now: map[string]int{}}
	hooks := loader.Trace{
		LoaderMade:     func(l *loader.Loader) error { a.l.Store(l); a.asks("LoaderMade"); return nil },
		LoaderClosed:   func() error { a.asks("LoaderClosed"); return nil },
		BatchBegun:     func(loader.BatchInfo) { a.asks("BatchBegun") },
		BatchReady:     func(loader.BatchInfo, time.Duration) { a.asks("BatchReady") },
		BatchDelivered: func(loader.BatchInfo, time.Duration) { a.asks("BatchDelivered") },
		BatchEnded:     func(loader.BatchInfo, time.Duration) { a.asks("BatchEnded") },
		BatchFreed:     func(loader.BatchInfo) { a.asks("BatchFreed") },
		SampleDone:     func(loader.SampleInfo) { a.asks("SampleDone") },
	}
	done := make(chan error, 1)
	go func() {
		l, err := loader.New(a, loader.BatchSize(4), loader.Workers(2), loader.Sampler(a), loader.Memory(a), loader.Observe(hooks))
		if err != nil {
			done <- err
			return
		}
		for epoch := range 2 {
			for _, err := range l.Epoch(context.Background(), epoch) {
				if err != nil {
					done <- err
					return
				}
			}
		}
		done <- l.Close()
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%v have not returned", a.list(a.now))
	}
	for _, name := range []string{"BatchBegun", "BatchDelivered", "BatchEnded", "BatchFreed", "BatchReady", "Foresee", "Free", "LoaderClosed",
		"LoaderMade", "Name", "Order.At", "Place", "Reader.Close", "SampleDone", "Sampler.Epoch", "stop"} {
		if a.seen[name] == 0 {
			t.Errorf("%s was never called", name)
		}
	}
}
