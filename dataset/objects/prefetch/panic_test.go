package prefetch_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/loader"
)

// A wrong store panics once, in the request for an object, or when it is asked whether it has it.
type wrong struct {
	*far
	reads, has string
	panicked   atomic.Bool
}

func (s *wrong) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	if o.Name == s.reads && s.panicked.CompareAndSwap(false, true) {
		panic("a wrong read")
	}
	return s.far.ReadAt(ctx, o, p, off)
}

func (*wrong) Forget(objects.Object, int64, int64) {}

func (s *wrong) Has(o objects.Object, _, _ int64) bool {
	if o.Name == s.has && s.panicked.CompareAndSwap(false, true) {
		panic("a wrong look")
	}
	return false
}

// Requests run in goroutines where a panic would end the program.
func TestAPanicOfTheStoreIsAnErrorOfItsBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wrong{far: newFar(4, 1000)}
		s.reads = s.object(2).Name
		p := newPrefetcher(t, s)
		f := &moving{batches: [][]int{{0, 1}, {2, 3, 2}}}
		stop := p.Foresee(f, filesOf(s.far))
		f.begun.Store(2)
		for _, late := range []time.Duration{0, time.Minute} { // the first read waits, the second one does not
			time.Sleep(late)
			for i := range 4 {
				o := s.object(i)
				err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0)
				e, ok := errors.AsType[*dataset.PanicError](err)
				switch {
				case i != 2 && err != nil:
					t.Errorf("object %d after %v: %v", i, late, err)
				case i == 2 && (!ok || e.Value != "a wrong read" || !strings.HasPrefix(err.Error(), "prefetch: read class/000002.jpg: panic: ")):
					t.Errorf("object %d after %v: %v", i, late, err)
				}
			}
		}
		stop()
		if got := p.Stats(); got.Held != 0 || got.Requests != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// The error of a batch names the sample, and the store's panic is not hidden by a second request.
func TestAPanicOfTheStoreIsAnErrorOfItsSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wrong{far: newFar(40, 1000)}
		s.reads = s.object(7).Name
		l, err := loader.New(images(t, newPrefetcher(t, s)), loader.BatchSize(4), loader.Workers(2))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var found error
		for _, err := range l.Epoch(t.Context(), 0) {
			found = errors.Join(found, err)
		}
		sample, ok := errors.AsType[*loader.SampleError](found)
		if e, panicked := errors.AsType[*dataset.PanicError](found); !ok || sample.Index != 7 || !panicked || e.Value != "a wrong read" {
			t.Errorf("%v, want the panic for sample 7", found)
		}
	})
}

// The epoch looks ahead in the goroutine of Foresee at first, and then in its own. What it has
// fetched is read all the same.
func TestAPanicWhileAnEpochLooksAheadIsOneOfItsOwner(t *testing.T) {
	for _, object := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := &wrong{far: newFar(4, 1000)}
			s.has = s.object(object).Name
			p := newPrefetcher(t, s)
			f := &moving{batches: [][]int{{0}, {1}, {2}, {3}}}
			var stop func()
			first := panicOf(func() { stop = p.Foresee(f, filesOf(s.far)) })
			if object > 0 {
				synctest.Wait()
				other := p.Foresee(&moving{batches: f.batches}, filesOf(s.far)) // which waits for no other one
				time.Sleep(time.Second)
				if got := p.Stats(); got.Fetched != 6 {
					t.Errorf("%d blocks are fetched, want 6, two of them before the panic: %v", got.Fetched, got)
				}
				for k := range f.batches {
					if o := s.object(k); p.ReadAt(t.Context(), o, make([]byte, o.Size), 0) != nil {
						t.Error("a block cannot be read")
					}
				}
				other()
				if first == nil {
					first = panicOf(stop)
				}
			}
			if e, ok := first.(*dataset.PanicError); !ok || e.Value != "a wrong look" {
				t.Errorf("object %d: the panic is %v", object, first)
			}
			if got := p.Stats(); got.Held != 0 || got.Requests != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// panicOf is the value with which f panics, or nil.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
