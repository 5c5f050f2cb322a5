//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"testing"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// expected reports whether there was an error, which must be the one of that call.
func expected(t testing.TB, call string, err error) bool {
	t.Helper()
	return expectedCode(t, call, "CUDA_ERROR_OPERATING_SYSTEM", err)
}

func expectedCode(t testing.TB, call, code string, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if found := calls(err); len(found) != 1 || found[0].Call != call || found[0].Name != code {
		t.Errorf("got %v, want the failure of %s with %s", err, call, code)
	}
	return true
}

func TestUploadErrorsNameBatchFieldAndCall(t *testing.T) {
	for call, want := range map[string]string{
		"cuMemAlloc_v2":        "gpu: upload batch 0 of epoch 0: field x: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuMemcpyHtoDAsync_v2": "gpu: upload batch 0 of epoch 0: field x: cuMemcpyHtoDAsync_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuEventSynchronize":   "gpu: upload batch 0 of epoch 0: cuEventSynchronize: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
	} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			fake.Fail(call, 1, outOfMemory)
			var last error
			for _, err := range s.Epoch(t.Context(), 0) {
				last = err
			}
			if last == nil || last.Error() != want {
				t.Errorf("got %v, want %s", last, want)
			}
			for b, err := range s.Epoch(t.Context(), 0) { // the next loop is whole
				if err != nil {
					t.Fatal(err)
				}
				check(t, b)
			}
		})
	}
}

// TestCloseGoesOnAfterFailures: what the driver would not free is all that is
// left, until Close is called again.
func TestCloseGoesOnAfterFailures(t *testing.T) {
	for call, left := range map[string]map[int32]int64{ // in the accounts where anything is
		"cuMemFree_v2":       {driver.DeviceBytes: 4 * 8 * width},
		"cuStreamDestroy_v2": {driver.Streams: 1},
		"cuEventDestroy_v2":  {driver.Events: 1},
	} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			for _, err := range s.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			fake.Fail(call, 1, osError)
			if !expected(t, call, s.Close()) {
				t.Error("no error")
			}
			for _, account := range []int32{driver.DeviceBytes, driver.Streams, driver.Events} {
				if got := fake.Live(account); got != left[account] {
					t.Errorf("%d left in account %d, want %d", got, account, left[account])
				}
			}
			if d.Close() == nil {
				t.Error("the device closed while something of the stage was left")
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close again: %v", err)
			}
			for account := range left {
				if n := fake.Live(account); n != 0 {
					t.Errorf("after Close: %d left in account %d", n, account)
				}
			}
		})
	}
}

func TestStreamsThatAreNotTheDevicesAreRefused(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2, loader.BatchSize(4))
	elsewhere := fake.Context(0)
	defer fake.EndContext(elsewhere)
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for stream, want := range map[uintptr]string{
			2:                             "want a stream that was created, or 0 for the legacy default stream",
			fake.Stream(elsewhere, false): "is the stream of the device's context? cuEventRecord: CUDA_ERROR_INVALID_HANDLE",
		} {
			if err := b.UsedBy(stream); err == nil || !contains(err, want) {
				t.Errorf("UsedBy(%#x): got %v, want %q", stream, err, want)
			}
		}
		for _, stream := range []uintptr{0, 1} { // the legacy default stream
			if err := b.UsedBy(stream); err != nil {
				t.Errorf("UsedBy(%d): %v", stream, err)
			}
		}
	}
}

// TestALostContextIsReportedOnceAndDropped: a kernel of another library has failed. The next
// call of the loop reports it, every Close drops what it cannot free, and a second Close has
// nothing left to do.
func TestALostContextIsReportedOnceAndDropped(t *testing.T) {
	needFake(t)
	d, err := gpu.Open(gpu.Library(fake.File))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(numbers(400), loader.Memory(p), loader.BatchSize(4))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gpu.NewStage(d, l)
	if err != nil {
		t.Fatal(err)
	}
	c := newConsumer(t, 0, 100)
	var last error
	for b, err := range s.Epoch(t.Context(), 0) {
		if last = err; err != nil {
			continue
		}
		err := c.use(b, repeated(b.Indices()), 0)
		if b.Number() == 4 {
			fake.Poison(driver.IllegalAddress, 1)
		}
		if err != nil && !errors.Is(err, gpu.ErrLost) {
			t.Error(err)
		}
	}
	const said = "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered; the context is lost, perhaps by earlier work: restart the process"
	if !errors.Is(last, gpu.ErrLost) || !contains(last, said) {
		t.Errorf("got %v, want ErrLost with %q", last, said)
	}
	for _, err := range s.Epoch(t.Context(), 1) {
		if !errors.Is(err, gpu.ErrLost) {
			t.Errorf("the next loop: got %v", err)
		}
	}
	for _, end := range []interface{ Close() error }{s, l, p, d} {
		if err := end.Close(); err != nil && (!errors.Is(err, gpu.ErrLost) || len(calls(err)) == 0) {
			t.Errorf("%T: Close: got %v", end, err)
		}
		if err := end.Close(); err != nil {
			t.Errorf("%T: Close again: got %v", end, err)
		}
	}
	if _, err := d.Pinned(); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
