package volume

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// sized makes patients of that many bytes.
func sized(bytes ...int64) func(context.Context, int) (*patientVolumes, error) {
	return func(_ context.Context, patient int) (*patientVolumes, error) {
		return &patientVolumes{bytes: bytes[patient]}, nil
	}
}

func use(t *testing.T, c *cache, patients ...int) {
	t.Helper()
	for _, p := range patients {
		if _, err := c.acquire(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	c := newCache(100, sized(40, 40, 40, 101))
	use(t, c, 0, 1, 0, 2) // drops 1
	use(t, c, 0, 2)
	want := dataset.CacheStats{Hits: 3, Misses: 3, Samples: 2, Bytes: 80, Limit: 100}
	if got := c.snapshot(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	use(t, c, 3, 3, 0, 2) // too large to stay, and drops nobody else
	want = dataset.CacheStats{Hits: 5, Misses: 5, Samples: 2, Bytes: 80, Limit: 100}
	if got := c.snapshot(); got != want {
		t.Errorf("with one too large: got %+v, want %+v", got, want)
	}
}

func TestCacheLoadsOnceForAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := newCache(100, func(context.Context, int) (*patientVolumes, error) {
			loads.Add(1)
			time.Sleep(time.Second)
			return &patientVolumes{bytes: 1000}, nil
		})
		var group sync.WaitGroup
		for range 9 {
			group.Go(func() { use(t, c, 0) })
		}
		group.Wait()
		if got := loads.Load(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
		want := dataset.CacheStats{Hits: 8, Misses: 1, Limit: 100}
		if got := c.snapshot(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestCanceledLoadIsTakenOverByTheNext(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprintf("panics=%v", panics), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var loads atomic.Int64
				c := newCache(100, func(ctx context.Context, _ int) (*patientVolumes, error) {
					if loads.Add(1) > 1 {
						return &patientVolumes{bytes: 1}, nil
					}
					<-ctx.Done()
					if panics {
						panic("no such organ")
					}
					return nil, ctx.Err()
				})
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				group.Go(func() {
					defer func() { _ = recover() }()
					if _, err := c.acquire(ctx, 0); !errors.Is(err, context.Canceled) {
						t.Errorf("the cancelled one: got %v", err)
					}
				})
				synctest.Wait()
				group.Go(func() { use(t, c, 0) })
				synctest.Wait()
				cancel()
				group.Wait()
				if got := loads.Load(); got != 2 {
					t.Errorf("%d loads, want 2", got)
				}
			})
		})
	}
}

func TestCanceledWaiterLeavesTheLoadAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(100, func(context.Context, int) (*patientVolumes, error) {
			time.Sleep(time.Second)
			return &patientVolumes{bytes: 10}, nil
		})
		var group sync.WaitGroup
		group.Go(func() { use(t, c, 0) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.acquire(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		group.Wait()
		if got := c.snapshot(); got.Misses != 1 || got.Bytes != 10 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestErrorsGoToAllWaitersAndAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		corrupt := errors.New("corrupt")
		var loads atomic.Int64
		c := newCache(100, func(context.Context, int) (*patientVolumes, error) {
			if loads.Add(1) > 1 {
				return &patientVolumes{}, nil
			}
			time.Sleep(time.Second)
			return nil, corrupt
		})
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, err := c.acquire(t.Context(), 0); err != corrupt {
					t.Errorf("got %v, want corrupt", err)
				}
			})
		}
		group.Wait()
		use(t, c, 0)
		if got := loads.Load(); got != 2 {
			t.Errorf("%d loads, want 2", got)
		}
	})
}
