package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

// ordered is a sampler that calls before for the order of an epoch after the first.
type ordered struct {
	sampler.Sampler
	before func()
}

func (o ordered) Epoch(epoch int) sampler.Order {
	if epoch > 0 {
		o.before()
	}
	return o.Sampler.Epoch(epoch)
}

func TestFewEpochsArePlannedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, peak atomic.Int64
		s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(ordered{sampler.Sequential(40), func() {
			n := now.Add(1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			time.Sleep(time.Second)
			now.Add(-1)
		}})))
		var group sync.WaitGroup
		for epoch := range 32 {
			group.Go(func() {
				path := fmt.Sprintf("/v1/%s/%d/0-1", s.Plan(), epoch)
				if w := request(s, "GET", path, nil); w.Code != http.StatusOK {
					t.Errorf("epoch %d: status %d: %s", epoch, w.Code, w.Body)
				}
			})
		}
		group.Wait()
		if got := peak.Load(); got < 1 || got > 4+1 { // one more by the loader of the first batch
			t.Errorf("%d epochs were planned at once, want 5 at most", got)
		}
	})
}

func TestRequestsThatWaitUseThePlanOfThoseBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var planned atomic.Int64
		s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(ordered{sampler.Sequential(40), func() {
			time.Sleep(time.Second)
			planned.Add(1)
		}})))
		time.Sleep(time.Minute)
		before := planned.Load() // by the loader of the first batch
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				if w := get(s, "7/0-1"); w.Code != http.StatusOK {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
			})
		}
		group.Wait()
		if got := planned.Load() - before; got != 1 {
			t.Errorf("the epoch was planned %d times, want once", got)
		}
	})
}

// stuck is a sampler that waits before it gives the order of a late epoch.
type stuck struct {
	sampler.Sampler
	proceed chan struct{}
}

func (s stuck) Epoch(epoch int) sampler.Order {
	if epoch >= 100 {
		<-s.proceed
	}
	return s.Sampler.Epoch(epoch)
}

func TestASlowOrderKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(stuck{sampler.Sequential(40), proceed})))
		ask := func(path string, want int, after time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun, w := time.Now(), httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/"+s.Plan()+"/"+path, nil))
			if took := time.Since(begun); w.Code != want || took != after {
				t.Errorf("%s: status %d after %v, want %d after %v", path, w.Code, took, want, after)
			}
		}
		ask("100/0-1", 499, time.Second)
		ask("101/0-1/0", 499, time.Second)
		ask("102/0-1", 499, time.Second)
		ask("100/0-1", 499, time.Second) // it does not take another turn
		ask("1/0-1/0", 200, 0)
		ask("103/0-1", 499, time.Second)
		ask("1/0-1/9", 200, 0) // its order is known
		ask("2/0-1", 499, time.Second)
		close(proceed)
		synctest.Wait()
		ask("2/0-1", 200, 0)
		ask("103/0-1/9", 200, 0)
	})
}

func TestAnEpochThatCannotBePlannedIsNotAMissingBatch(t *testing.T) {
	s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(ordered{sampler.Sequential(40), func() { panic("no order") }})))
	for path, want := range map[string]int{"0/0-1?draw=41": 404, "1/0-1": 500, "1/0-1/3": 500} {
		if w := request(s, "GET", "/v1/"+s.Plan()+"/"+path, nil); w.Code != want {
			t.Errorf("%s: status %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}

// Both hooks run on the goroutine of the loop. The second loader is the one of the request.
func TestRequestsEndIfAHookEndsTheLoop(t *testing.T) {
	loaders := 0
	for path, hooks := range map[string]loader.Trace{
		"/0/0-1/2": {BatchDelivered: func(b loader.BatchInfo, _ time.Duration) {
			if b.Batch == 2 { // New asks for batch 0, and the lane makes one more
				runtime.Goexit()
			}
		}},
		"/0/0-2/0": {LoaderMade: func(*loader.Loader) error {
			if loaders++; loaders == 2 {
				runtime.Goexit()
			}
			return nil
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := serve.New(t.Context(), samples(12), serve.Loader(loader.BatchSize(4), loader.Observe(hooks)))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/"+s.Plan()+path, nil))
			if w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
			}
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), "runtime.Goexit was called") {
				t.Errorf("%s: Close: got %v", path, err)
			}
		})
	}
}

func TestTheLastBatchOfAnEpochDoesNotWaitForTheNextPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(planner{sampler.Sequential(40)})))
		begun := time.Now()
		if w := get(s, "0/0-1/9"); w.Code != http.StatusOK || time.Since(begun) > 0 {
			t.Errorf("status %d after %v, want 200 at once", w.Code, time.Since(begun))
		}
		if w := get(s, "1/0-1/0"); w.Code != http.StatusOK {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
