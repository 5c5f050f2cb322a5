package prefetch_test

import (
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
