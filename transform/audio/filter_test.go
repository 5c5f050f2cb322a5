package audio

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestOtherFiltersAreNotWaitedFor: while one filter is computed, and others wait for it, another one can be had.
func TestOtherFiltersAreNotWaitedFor(t *testing.T) {
	r, begun, end := new(resampler), make(chan bool), make(chan bool)
	slow := r.kept(107, 108)
	var others sync.WaitGroup
	others.Go(func() { slow.once.Do(func() { close(begun); <-end }) })
	<-begun
	for range 4 {
		others.Go(func() { _, _ = r.filter(107, 108) })
	}
	done := make(chan *filter, 1)
	others.Go(func() {
		for range 1000 {
			runtime.Gosched() // most likely the others wait by now
		}
		f, _ := r.filter(3, 4)
		done <- f
	})
	select {
	case f := <-done:
		if len(f.phases) != 4 {
			t.Errorf("the filter has %d phases, want 4", len(f.phases))
		}
	case <-time.After(time.Minute):
		t.Error("a filter waits for one of other rates")
	}
	close(end)
	others.Wait()
	for k := range 2 * keptFilters {
		if f, err := r.filter(k+1, k+2); err != nil || len(f.phases) != k+2 || len(r.filters) > keptFilters {
			t.Errorf("filter %d of %d: %d phases, %v", k, len(r.filters), len(f.phases), err)
		}
	}
}
