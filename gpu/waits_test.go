//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// When memory is allocated or freed, the driver may wait for all streams of the context and
// block all other calls meanwhile. A stranger is a stream that never finishes and of which
// the package knows nothing.
func newStranger(t testing.TB) {
	t.Helper()
	stream := fake.Stream(fake.Primary(0), false)
	fake.Hold(stream)
	t.Cleanup(func() {
		fake.Release()
		fake.EndStream(stream)
	})
}

// soon runs what must not wait for a stranger. If it waits, the test fails instead of
// hanging.
func soon(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		fake.Release()
		<-done
		t.Fatalf("%s waited for a stream that stands still", what)
	}
}

// TestLoopsDoNotWaitForStrangers: the ring is taken at the first batch, so that nothing is
// taken later.
func TestLoopsDoNotWaitForStrangers(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(48), 4, loader.BatchSize(4), loader.Workers(1), loader.InFlight(3))
	batches := 0
	soon(t, "the loop", func() {
		for b, err := range s.Epoch(t.Context(), 0) {
			if err != nil {
				t.Error(err)
				return
			}
			if b.Number() == 0 {
				newStranger(t)
			}
			batches++
		}
	})
	if batches != 12 {
		t.Errorf("%d batches, want 12", batches)
	}
	fake.Release()
}

// TestCancelIsPromptWhileTheDriverWaits: the loop waits for a buffer that a stream reads.
// Another goroutine allocates page-locked memory, for which the driver waits for the same
// stream and blocks all other calls.
func TestCancelIsPromptWhileTheDriverWaits(t *testing.T) {
	d := open(t)
	p := pinned(t, d)
	s := staged(t, d, p, numbers(400), 2, loader.BatchSize(4))
	c := newConsumer(t, 0, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken := make(chan error)
	before := fake.Calls("cuMemHostAlloc")
	var last error
	soon(t, "the loop", func() {
		batches := 0
		for b, err := range s.Epoch(ctx, 0) {
			if last = err; err != nil {
				break
			}
			if batches == 0 { // the buffers are taken
				fake.Hold(c.stream)
			}
			if err := c.use(b, repeated(b.Indices()), 0); err != nil {
				t.Error(err)
			}
			if batches++; batches == 2 {
				go func() {
					slab, err := p.Alloc(64)
					taken <- errors.Join(err, p.Free(slab))
				}()
				go func() {
					for fake.Calls("cuMemHostAlloc") == before {
						runtime.Gosched()
					}
					cancel()
				}()
			}
		}
	})
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", last)
	}
	fake.Release()
	if err := <-taken; err != nil {
		t.Error(err)
	}
	c.check(t)
}

// TestOutgrownMemoryIsFreedAtTheEnd: nothing waits for the device in between.
func TestOutgrownMemoryIsFreedAtTheEnd(t *testing.T) {
	needFake(t)
	d := another(t, 0)
	s := staged(t, d, pinned(t, d), growing(48), 2, loader.BatchSize(4))
	for _, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if taken, freed := fake.Calls("cuMemAlloc_v2"), fake.Calls("cuMemFree_v2"); taken < 6 || freed != 0 {
		t.Errorf("memory was taken %d times and freed %d times, want 6 or more and none", taken, freed)
	}
}

// TestDownloadWaitsForNoOtherStream: those that are not non-blocking make the default
// stream wait.
func TestDownloadWaitsForNoOtherStream(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2, loader.BatchSize(4))
	stream := fake.Stream(fake.Primary(0), true)
	defer fake.EndStream(stream)
	defer fake.Release()
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() == 1 {
			fake.Hold(stream)
		}
		soon(t, "Download", func() { check(t, b) })
	}
}

// TestAnotherThreadMayCaptureAGraph from before the device is opened until it is
// closed: no call breaks the capture, or fails because of it.
func TestAnotherThreadMayCaptureAGraph(t *testing.T) {
	needFake(t)
	fake.Capture(true)
	if errs := live(t); len(errs) > 0 {
		t.Error(errs)
	}
	if errs := live(t); len(errs) > 0 {
		t.Error(errs)
	}
}
