//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

func pinned(t testing.TB, d *gpu.Device) *gpu.Pinned {
	t.Helper()
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, p)
	return p
}

func TestPinnedMemoryIsCountedAlignedAndFreed(t *testing.T) {
	p := pinned(t, open(t))
	var slabs [][]byte
	total := int64(0)
	for _, n := range []int{0, 1, 63, 4096, 1 << 20} {
		slab, err := p.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(slab) != n || cap(slab) != n || uintptr(unsafe.Pointer(unsafe.SliceData(slab)))%64 != 0 {
			t.Errorf("Alloc(%d): %d bytes of %d at %p", n, len(slab), cap(slab), slab)
		}
		for i := range slab {
			slab[i] = byte(i)
		}
		slabs = append(slabs, slab)
		total += int64(n)
	}
	if p.Bytes() != total || fake.Live(driver.PinnedBytes) != total {
		t.Errorf("%d bytes counted, %d taken, want %d", p.Bytes(), fake.Live(driver.PinnedBytes), total)
	}
	for _, slab := range slabs {
		if err := p.Free(slab); err != nil {
			t.Error(err)
		}
	}
	if p.Bytes() != 0 {
		t.Errorf("%d bytes counted after Free", p.Bytes())
	}
}

func TestMoreThanTheSystemHasIsRefused(t *testing.T) {
	p := pinned(t, open(t))
	for _, n := range []int{-1, 1 << 46} {
		if _, err := p.Alloc(n); err == nil {
			t.Errorf("Alloc(%d) succeeded", n)
		}
	}
	if n := fake.Calls("cuMemHostAlloc"); n != 0 {
		t.Errorf("the driver was asked %d times", n)
	}
}

func TestOnlyItsOwnSlabsAreFreedAndOnce(t *testing.T) {
	p := pinned(t, open(t))
	slab, err := p.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	for name, foreign := range map[string][]byte{"heap": make([]byte, 128), "inside": slab[64:]} {
		if p.Free(foreign) == nil {
			t.Errorf("Free took memory that is not its own: %s", name)
		}
	}
	if err := p.Free(slab); err != nil {
		t.Error(err)
	}
	if p.Free(slab) == nil {
		t.Error("Free took a slab twice")
	}
}

func TestAllocationErrorsReachTheCallerOfLoaderNew(t *testing.T) {
	p := pinned(t, open(t))
	fake.Fail("cuMemHostAlloc", 2, outOfMemory)
	_, err := loader.New(counting(8), loader.Workers(2), loader.Memory(p))
	var cause *gpu.DriverError
	if !errors.As(err, &cause) || cause.Name != "CUDA_ERROR_OUT_OF_MEMORY" || cause.Code != outOfMemory {
		t.Errorf("got %v", err)
	}
}

func TestFailedFreeKeepsTheAccount(t *testing.T) {
	p := pinned(t, open(t))
	slab, err := p.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	fake.Fail("cuMemFreeHost", 1, osError)
	if err := p.Free(slab); err == nil || p.Bytes() != 128 {
		t.Errorf("got %v, %d bytes", err, p.Bytes())
	}
	if err := p.Free(slab); err != nil {
		t.Error(err)
	}
}

func TestCloseFreesWhatTheDriverWouldNotTake(t *testing.T) {
	p := pinned(t, open(t))
	slab, err := p.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	fake.Fail("cuMemFreeHost", 1, osError)
	if !expected(t, "cuMemFreeHost", p.Free(slab)) {
		t.Error("Free: no error")
	}
	fake.Fail("cuMemFreeHost", 1, osError)
	if !expected(t, "cuMemFreeHost", p.Close()) {
		t.Error("Close: no error")
	}
	if err := p.Close(); err != nil || p.Bytes() != 0 {
		t.Errorf("got %v, %d bytes are taken", err, p.Bytes())
	}
}

func TestPinnedServesManyGoroutines(t *testing.T) {
	p := pinned(t, open(t))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for n := 1; n < 100; n++ {
				slab, err := p.Alloc(n)
				if err == nil {
					err = p.Free(slab)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// TestAFreedAddressIsForgottenBeforeTheNextCall, to which the driver may give the same address.
func TestAFreedAddressIsForgottenBeforeTheNextCall(t *testing.T) {
	p := pinned(t, open(t))
	slab, err := p.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	newStranger(t) // for which the driver waits
	freed, taken := make(chan error), make(chan int64, 1)
	go func() { freed <- p.Free(slab) }()
	for fake.Calls("cuMemFreeHost") == 0 {
		runtime.Gosched()
	}
	go p.Next(func() { taken <- p.Bytes() })
	for range 100 { // until that waits for the thread
		runtime.Gosched()
	}
	fake.Release()
	if n := <-taken; n != 0 {
		t.Errorf("%d bytes were still counted in the device's next call", n)
	}
	if err := <-freed; err != nil {
		t.Error(err)
	}
}

func TestAutoTakesWhatThereIs(t *testing.T) {
	needFake(t)
	for file, want := range map[string]string{
		fake.File:   "page-locked memory of Fake 0 (device 0, CUDA 12.4)",
		"/nowhere/": "Go's memory: gpu: no CUDA device: load /nowhere/",
	} {
		m, free, err := gpu.Auto(gpu.DefaultLibrary(file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(fmt.Sprint(m), want) {
			t.Errorf("got %q, want %q", m, want)
		}
		slab, err := m.Alloc(100)
		if err != nil || len(slab) != 100 {
			t.Errorf("%v: %d bytes, %v", m, len(slab), err)
		}
		if err := errors.Join(m.Free(slab), free()); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := gpu.Auto(gpu.Ordinal(-1)); err == nil {
		t.Error("a wrong option passed")
	}
}
