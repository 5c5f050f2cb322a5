package prefetch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// filesFrom is n objects of the store, from the first one on.
func filesFrom(s *far, first, n int) objects.Blocks {
	of := filesOf(s)
	of.Len = n
	at := of.At
	of.At = func(block int, dst []objects.Block) []objects.Block { return at(first+block, dst) }
	return of
}

// One part has looked at all of its batches, and its samples are not read. What it holds is
// free when these batches are complete.
func TestBlocksOfADatasetThatIsCompleteAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(30, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(10_000))
		whole := &moving{batches: make([][]int, 20)}
		whole.begun.Store(1)
		stopFirst := p.Foresee(partOf{whole, 1}, filesFrom(s, 0, 9))
		synctest.Wait() // it has looked at all batches
		stopSecond := p.Foresee(partOf{whole, 1}, filesFrom(s, 9, 20))
		time.Sleep(time.Second)
		whole.begun.Store(10)
		whole.done.Store(9)
		o := s.object(0)
		if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil { // epochs look again
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := p.Stats(); got.Held != 10_000 || got.Fetched != 28 {
			t.Errorf("%+v, want 10 blocks of the second dataset after 10 of both", got)
		}
		stopFirst()
		stopSecond()
	})
}

// The next epoch's first batch takes as much memory as there may be.
func TestAnEpochThatHasNotBegunHasWhatOthersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(40, 1000)
		p := newPrefetcher(t, s, prefetch.MaxBytes(10_000))
		first, second := &moving{batches: make([][]int, 1)}, &moving{batches: make([][]int, 1)}
		first.begun.Store(1)
		stopFirst := p.Foresee(partOf{first, 8}, filesFrom(s, 0, 8))
		stopSecond := p.Foresee(partOf{second, 20}, filesFrom(s, 8, 20))
		time.Sleep(time.Second)
		if got := p.Stats(); got.Held != 10_000 {
			t.Errorf("%d bytes are held, want 10000: %v", got.Held, got)
		}
		stopFirst()
		time.Sleep(time.Second)
		if got := p.Stats(); got.Held != 10_000 || got.Fetched != 18 {
			t.Errorf("%d bytes are held, want 10000 of the second: %v", got.Held, got)
		}
		stopSecond()
	})
}

// A partOf has the next samples of a dataset in every batch of a loop.
type partOf struct {
	*moving
	each int // samples of a batch
}

func (f partOf) At(batch int, dst []int) []int {
	for k := range f.each {
		dst = append(dst, f.each*batch+k)
	}
	return dst
}
