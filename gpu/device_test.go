//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
)

func TestMissingDriverIsExplained(t *testing.T) {
	for file, want := range map[string]string{
		"/nowhere/libcuda.so.1": "load /nowhere/libcuda.so.1",
		"libc.so.6":             "libc.so.6 has no cuInit",
	} {
		d, err := gpu.Open(gpu.Library(file))
		if d != nil || !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want ErrNoDevice with %q", file, err, want)
		}
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	_, err := gpu.Open(gpu.Ordinal(-1), gpu.Option{}, gpu.Library(""), gpu.Limit(-2))
	if err == nil || errors.Is(err, gpu.ErrNoDevice) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"Ordinal(-1)", `Library("")`, "Limit(-2)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestDeviceThatCannotBeTakenIsExplained(t *testing.T) {
	for _, call := range []string{
		"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
		"cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
	} {
		t.Run(call, func(t *testing.T) {
			needFake(t)
			fake.Fail(call, 1, 100)
			_, err := gpu.Open(gpu.Library(fake.File))
			var cause *gpu.DriverError
			if !errors.Is(err, gpu.ErrNoDevice) || !errors.As(err, &cause) {
				t.Fatalf("got %v, want ErrNoDevice and a DriverError", err)
			}
			want := gpu.DriverError{Call: call, Code: 100, Name: "CUDA_ERROR_NO_DEVICE", Message: "no CUDA-capable device is detected"}
			if *cause != want {
				t.Errorf("got %+v, want %+v", *cause, want)
			}
			if !strings.Contains(err.Error(), fake.File) {
				t.Errorf("%q does not name the library", err)
			}
		})
	}
}

func TestUnknownErrorCodesAreReported(t *testing.T) {
	needFake(t)
	fake.Fail("cuInit", 1, 12345)
	_, err := gpu.Open(gpu.Library(fake.File))
	if err == nil || !strings.HasSuffix(err.Error(), "cuInit: unknown (12345): unknown") {
		t.Errorf("got %v", err)
	}
}

func TestOrdinalBeyondTheDevicesIsNoDevice(t *testing.T) {
	needFake(t)
	fake.Devices(2)
	_, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(2))
	if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "there are 2 devices") {
		t.Errorf("got %v", err)
	}
}

func TestDeviceStaysOpenWhileItsMemoryIs(t *testing.T) {
	d := open(t)
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err == nil {
		t.Fatal("the device closed below its memory")
	}
	slab, err := p.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil {
		t.Fatal("the memory closed below a slab")
	}
	for _, err := range []error{p.Free(slab), p.Close(), p.Close(), d.Close(), d.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Alloc(100); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Alloc behind Close: got %v", err)
	}
	if _, err := d.Pinned(); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Pinned behind Close: got %v", err)
	}
}

func TestCloseReportsTheDriverAndTriesAgain(t *testing.T) {
	needFake(t)
	d, err := gpu.Open(gpu.Library(fake.File))
	if err != nil {
		t.Fatal(err)
	}
	const call = "cuDevicePrimaryCtxRelease_v2"
	fake.Fail(call, 1, osError)
	if err := d.Close(); !expected(t, call, err) {
		t.Error("no error")
	}
	if _, err := d.Pinned(); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Pinned behind a Close that failed: got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// TestAContextOfOthersIsUsedAndNotReleased: the fake driver counts retained
// contexts, and needFake sees that none is released twice.
func TestAContextOfOthersIsUsedAndNotReleased(t *testing.T) {
	owner := open(t)
	handle := fake.Primary(0) // which owner keeps alive
	calls := fake.Calls("cuDevicePrimaryCtxRetain")
	d, err := gpu.Open(gpu.Library(fake.File), gpu.Context(handle))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	slab, err := p.Alloc(4096)
	if err != nil || len(slab) != 4096 {
		t.Errorf("got %d bytes, %v; want 4096", len(slab), err)
	}
	for _, err := range []error{p.Free(slab), p.Close(), d.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if got := fake.Calls("cuDevicePrimaryCtxRetain"); got != calls {
		t.Errorf("the primary context was retained %d times", got-calls)
	}
	if got := fake.Live(driver.Contexts); got != 1 {
		t.Errorf("got %d contexts alive, want that of %v", got, owner)
	}
}
