//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// TestNoStreamThatNeverFinishesHoldsALoop: the stream stands still while the loop waits
// for the buffer that it reads, and when it is cancelled and left.
func TestNoStreamThatNeverFinishesHoldsALoop(t *testing.T) {
	d := open(t)
	p := pinned(t, d)
	s := staged(t, d, p, numbers(400), 2, loader.BatchSize(4))
	c := newConsumer(t, 0, 2)
	defer fake.Release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	batches := 0
	var last error
	for b, err := range s.Epoch(ctx, 0) {
		if last = err; err != nil {
			break
		}
		if batches == 0 { // the buffers are taken
			fake.Hold(c.stream)
		}
		if err := c.use(b, repeated(b.Indices()), 0); err != nil {
			t.Fatal(err)
		}
		if batches++; batches == 2 { // both buffers are read now
			go func() {
				for fake.Calls("cuEventQuery") < 3 { // the loop waits
					runtime.Gosched()
				}
				cancel()
			}()
		}
	}
	if batches != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d batches, then %v, want 2 and context.Canceled", batches, last)
	}

	fake.Release()
	if err := s.Close(); err != nil || fake.Live(driver.DeviceBytes) != 0 {
		t.Errorf("got %v, %d device bytes left", err, fake.Live(driver.DeviceBytes))
	}
	c.check(t)
}

func TestCancelledLoopDeliversNothingMore(t *testing.T) {
	for _, last := range []int{0, 4, 9} { // of batches 0 to 9
		t.Run(fmt.Sprint(last), func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(40), 4, loader.BatchSize(4))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			batches := 0
			var end error
			for b, err := range s.Epoch(ctx, 0) {
				if end = err; err != nil {
					break
				}
				batches++
				if b.Number() == last {
					for fake.Uploads() < int64(min(last+4, 10)) { // more is ready
						runtime.Gosched()
					}
					cancel()
				}
			}
			if batches != last+1 || !errors.Is(end, context.Canceled) {
				t.Errorf("%d batches, then %v, want %d and context.Canceled", batches, end, last+1)
			}
		})
	}
}

// TestAStageThatIsClosedTwiceCountsOnce: else the device would close while its memory
// is open.
func TestAStageThatIsClosedTwiceCountsOnce(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2)
	for range 3 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if d.Close() == nil {
		t.Error("the device closed while its memory was open")
	}
}

// TestSlabsWaitForTheCopiesThatReadThem: the upload fails, and so does waiting for
// its copies. The slab is back only when that has succeeded.
func TestSlabsWaitForTheCopiesThatReadThem(t *testing.T) {
	d := open(t)
	p := pinned(t, d)
	l, err := loader.New(numbers(40), loader.Memory(p), loader.BatchSize(4), loader.InFlight(3))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gpu.NewStage(d, l)
	if err != nil {
		t.Fatal(err)
	}
	fake.Fail("cuEventSynchronize", 1, osError)
	fake.Fail("cuStreamSynchronize", 1, outOfMemory)
	var last error
	for _, err := range s.Epoch(t.Context(), 0) {
		last = err
	}
	if got := calls(last); len(got) != 2 || got[0].Call != "cuEventSynchronize" || got[1].Call != "cuStreamSynchronize" {
		t.Errorf("got %v, want both failures", last)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if p.Bytes() != 4*8*width {
		t.Errorf("%d bytes are taken, want one slab of %d", p.Bytes(), 4*8*width)
	}
	fake.Fail("cuStreamSynchronize", 1, outOfMemory)
	if !expectedCode(t, "cuStreamSynchronize", "CUDA_ERROR_OUT_OF_MEMORY", s.Close()) {
		t.Error("the stage closed while a copy ran")
	}
	if err := s.Close(); err != nil || p.Bytes() != 0 {
		t.Errorf("got %v, %d bytes are taken", err, p.Bytes())
	}
}

// TestTheNextLoopSettlesWhatAFailedOneLeft: it begins once no copy of the loop
// before runs, and then all slabs are the loader's again.
func TestTheNextLoopSettlesWhatAFailedOneLeft(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(40), 2, loader.BatchSize(4), loader.Workers(1), loader.InFlight(1))
	fake.Fail("cuEventSynchronize", 1, osError)
	fake.Fail("cuStreamSynchronize", 1, outOfMemory)
	for _, err := range s.Epoch(t.Context(), 0) {
		if err == nil || len(calls(err)) != 2 {
			t.Errorf("got %v, want both failures", err)
		}
	}
	fake.Fail("cuStreamSynchronize", 1, outOfMemory)
	came := 0
	for _, err := range s.Epoch(t.Context(), 0) {
		if came++; !expectedCode(t, "cuStreamSynchronize", "CUDA_ERROR_OUT_OF_MEMORY", err) {
			t.Error("a batch came while a copy of the loop before ran")
			break
		}
	}
	if came != 1 {
		t.Errorf("%d errors, want 1", came)
	}
	came = 0
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, b)
		came++
	}
	if came != 10 {
		t.Errorf("%d batches, want 10", came)
	}
}
