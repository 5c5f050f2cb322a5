package loader_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// An ending is a sampler of eight samples that panics or ends its goroutine in epoch
// 1, or at place 3 of epoch 0.
type ending struct {
	epoch int
	end   func()
}

func (e ending) Epoch(epoch int) sampler.Order {
	if epoch == 1 && e.epoch == 1 {
		e.end()
	}
	return e
}

func (e ending) Len() int { return 8 }

func (e ending) At(k int) int {
	if k == 3 && e.epoch == 0 {
		e.end()
	}
	return k
}

// TestUserCodeThatEndsItsGoroutine: wherever user code panics or calls
// runtime.Goexit, as testing.T.Fatal does, in a worker, the loop gets an error.
func TestUserCodeThatEndsItsGoroutine(t *testing.T) {
	ends := map[string]func(){
		"panic: broken":             func() { panic("broken") },
		"runtime.Goexit was called": runtime.Goexit,
	}
	places := map[string]struct {
		ds      func(end func()) *fake
		options func(end func()) loader.Option
		want    string
	}{
		"open": {
			ds:   func(end func()) *fake { return &fake{n: 8, open: func() error { end(); return nil }} },
			want: "loader: worker ",
		},
		"epoch": {
			options: func(end func()) loader.Option { return loader.Sampler(ending{1, end}) },
			want:    "loader: epoch 1: ",
		},
		"order": {
			options: func(end func()) loader.Option { return loader.Sampler(ending{0, end}) },
			want:    "loader: epoch 0, batch 1: ",
		},
		"begun": {
			options: func(end func()) loader.Option {
				return loader.Observe(loader.Trace{BatchBegun: func(loader.BatchInfo) { end() }})
			},
			want: "loader: epoch 0, batch 0: ",
		},
		"ready": {
			options: func(end func()) loader.Option {
				return loader.Observe(loader.Trace{BatchReady: func(loader.BatchInfo, time.Duration) { end() }})
			},
			want: "loader: epoch 0, batch 0: ",
		},
		"done": {
			options: func(end func()) loader.Option {
				return loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) {
					if s.Index == 5 {
						end()
					}
				}})
			},
			want: "loader: sample 5 (sample-5), epoch 0, batch 2: ",
		},
		"failed": {
			ds: func(func()) *fake { return failing(8, func(i int) bool { return i == 5 }) },
			options: func(end func()) loader.Option {
				return loader.Observe(loader.Trace{SampleFailed: func(*loader.SampleError) { end() }})
			},
			want: "loader: sample 5 (sample-5), epoch 0, batch 2: ",
		},
	}
	nothing := loader.Collate(dataset.BatchFunc(func(dst, src dataset.Columns) error { return nil }))
	for name, place := range places {
		for what, end := range ends {
			t.Run(name+"/"+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ds, options := &fake{n: 8}, []loader.Option{loader.Workers(3), loader.BatchSize(2), loader.InFlight(2), nothing}
					if place.ds != nil {
						ds = place.ds(end)
					}
					if place.options != nil {
						options = append(options, place.options(end))
					}
					l := loadertest.New(t, ds, options...)
					var last error
					for _, err := range l.Epochs(t.Context(), 0, 2) {
						last = err
						time.Sleep(time.Second) // workers wait for memory
					}
					if last == nil || !strings.Contains(last.Error(), place.want) || !strings.Contains(last.Error(), what) {
						t.Errorf("got %v, want %q and %q", last, place.want, what)
					}
				})
			})
		}
	}
}

func TestPanicInBatchReadyIsTheBatchsError(t *testing.T) {
	l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.BatchSize(2), loader.Observe(loader.Trace{
		BatchReady: func(b loader.BatchInfo, _ time.Duration) {
			if b.Batch == 1 {
				panic("broken")
			}
		},
	}))
	got := outcome(t, l)
	if want := []string{"[0 1] [0 1]", "error: loader: epoch 0, batch 1: panic: broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPanicInBatchFreedIsForClose: the slabs are used again.
func TestPanicInBatchFreedIsForClose(t *testing.T) {
	memory := new(checked)
	l, err := loader.New(&fake{n: 8}, loader.Workers(2), loader.BatchSize(2), loader.InFlight(2), loader.Memory(memory),
		loader.Observe(loader.Trace{BatchFreed: func(b loader.BatchInfo) {
			if b.Batch == 1 {
				panic("broken")
			}
		}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(collect(t, l, 0, 1)); got != 4 {
		t.Errorf("%d batches, want 4", got)
	}
	err = l.Close()
	if err == nil || !strings.HasPrefix(err.Error(), "loader: hook BatchFreed: panic: broken") || len(memory.out) != 0 {
		t.Errorf("Close: %v, %d slabs are not freed", err, len(memory.out))
	}
}

// A scarce allocator has no memory, panics or ends its goroutine after some calls.
type scarce struct {
	loader.Heap
	left atomic.Int32
	end  func() error
}

func (s *scarce) Alloc(n int) ([]byte, error) {
	if s.left.Add(-1) < 0 {
		return nil, s.end()
	}
	return s.Heap.Alloc(n)
}

func TestNoMemoryForRaggedFieldsEndsTheLoop(t *testing.T) {
	ends := map[string]func() error{
		`loader: epoch 3, batch 0: 5 bytes of field "text": bad sample`: func() error { return errBad },
		"loader: epoch 3, batch 0: panic: broken":                       func() error { panic("broken") },
	}
	for want, end := range ends {
		ds := &fake{
			n:    8,
			spec: dataset.Spec{{Name: "text", Dtype: dataset.Uint8, Ragged: true}},
			place: func(_ context.Context, i int, dst dataset.Slot) error {
				if i == 1 {
					return errors.New("one sample less does not hide it")
				}
				copy(dataset.Grow[uint8](dst, 0, 5), "hello")
				return nil
			},
		}
		memory := &scarce{end: end}
		memory.left.Store(0)
		l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(2), loader.InFlight(2), loader.Memory(memory), loader.Skip(loader.NoLimit))
		var seen []error
		for _, err := range l.Epoch(t.Context(), 3) {
			seen = append(seen, err)
		}
		if len(seen) != 1 || seen[0] == nil || !strings.HasPrefix(seen[0].Error(), want) {
			t.Errorf("got %v, want one error: %s", seen, want)
		}
	}
}

// A stubborn allocator panics in Free.
type stubborn struct{ loader.Heap }

func (stubborn) Free([]byte) error { panic("mine") }

func TestPanicInFreeLeavesNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := loader.New(&fake{n: 8}, loader.Workers(1), loader.Memory(stubborn{}))
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			for range l.Epoch(t.Context(), 0) {
				l.Close()
			}
		}()
		l.Stats()
	})
}
