package prefetch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// Of two loops over the same samples the first one breaks off. The other one's blocks are
// fetched all the same.
func TestBlocksThatWaitOutliveTheLoopThatPlannedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(4, 1000)
		p := newPrefetcher(t, s, prefetch.Requests(1))
		batches := [][]int{{0}, {1}, {2}, {3}}
		first, second := &moving{batches: batches}, &moving{batches: batches}
		first.begun.Store(1)
		second.begun.Store(1)
		stopFirst := p.Foresee(first, filesOf(s))
		stop := p.Foresee(second, filesOf(s))
		synctest.Wait()
		stopFirst()
		time.Sleep(time.Second)
		for k := range batches {
			second.begun.Store(int64(k + 1))
			o := s.object(k)
			if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
				t.Error(err)
			}
			second.done.Store(int64(k + 1))
		}
		stop()
		if got := p.Stats(); got.Direct > 0 || got.Held != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A request is under way that two loops wait for. It goes on when one of them breaks off,
// and ends with the other.
func TestRequestsGoOnWhileALoopNeedsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(4, 1000)
		p := newPrefetcher(t, s)
		first, second := &moving{batches: [][]int{{1}, {3}}}, &moving{batches: [][]int{{1}, {2}}}
		first.begun.Store(1)
		second.begun.Store(1)
		stopFirst := p.Foresee(first, filesOf(s))
		stopSecond := p.Foresee(second, filesOf(s))
		synctest.Wait()
		begin := time.Now()
		stopFirst()
		if got := p.Stats(); got.Requests != 2 || time.Since(begin) > 0 {
			t.Errorf("after the first loop: %d requests, want those for 1 and 2; it took %v", got.Requests, time.Since(begin))
		}
		o := s.object(1)
		if err := p.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
			t.Error(err)
		}
		if got := s.asked(); strings.Count(got, "1") != 1 {
			t.Errorf("requested %s, want the block of both loops once", got)
		}
		stopSecond()

		stopFirst, stopSecond = p.Foresee(first, filesOf(s)), p.Foresee(second, filesOf(s))
		synctest.Wait()
		begin = time.Now()
		stopFirst()
		stopSecond()
		if got := p.Stats(); got.Requests != 0 || got.Held != 0 || time.Since(begin) > 0 {
			t.Errorf("after both loops: %+v, which took %v", got, time.Since(begin))
		}
	})
}

// Blocks that a loop takes over from one that breaks off are fetched when it needs them.
func TestBlocksTakenOverAreFetchedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFar(10, 1000)
		p := newPrefetcher(t, s, prefetch.Requests(1))
		first, second := &moving{batches: [][]int{{5}, {1}, {2}, {3}}}, &moving{batches: [][]int{{9}, {3}, {8}, {1}, {7}}}
		first.begun.Store(1)
		second.begun.Store(1)
		stopFirst := p.Foresee(first, filesOf(s))
		synctest.Wait() // it has planned all of its blocks
		stopSecond := p.Foresee(second, filesOf(s))
		synctest.Wait()
		stopFirst()
		time.Sleep(time.Second)
		if got, want := s.asked(), "5 9 3 8 1 7"; got != want {
			t.Errorf("requested %s, want %s", got, want)
		}
		stopSecond()
	})
}
