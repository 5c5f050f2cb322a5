//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
)

// TestOnlyTheDefaultDriverMayBeMissing: a missing default file is ErrNoDevice. A missing
// file of Library, and a file that is not a driver, are other errors.
func TestOnlyTheDefaultDriverMayBeMissing(t *testing.T) {
	notELF := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(notELF, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		option gpu.Option
		none   bool
		want   string
	}{
		{gpu.DefaultLibrary("/nowhere/libcuda.so.1"), true, "gpu: no CUDA device: load /nowhere/libcuda.so.1: "},
		{gpu.Library("/nowhere/libcuda.so.1"), false, "gpu: load /nowhere/libcuda.so.1: "},
		{gpu.DefaultLibrary(notELF), false, "gpu: load " + notELF + ": "},
		{gpu.DefaultLibrary("libc.so.6"), false, "gpu: libc.so.6 has no cuInit: it is not a CUDA driver, or older than CUDA 11.0: "},
	} {
		d, err := gpu.Open(test.option)
		if d != nil || errors.Is(err, gpu.ErrNoDevice) != test.none || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %q, ErrNoDevice: %v", err, test.want, test.none)
		}
		m, _, err := gpu.Auto(test.option)
		if (err == nil) != test.none {
			t.Errorf("Auto: got %v, %v; want an error: %v", m, err, !test.none)
		}
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	_, err := gpu.Open(gpu.Ordinal(-1), gpu.Option{}, gpu.Library(""))
	if err == nil || errors.Is(err, gpu.ErrNoDevice) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"Ordinal(-1)", `Library("")`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

// TestADeviceThatCannotBeTakenIsExplained: only CUDA_ERROR_NO_DEVICE and a count of zero
// mean that there is none.
func TestADeviceThatCannotBeTakenIsExplained(t *testing.T) {
	names := map[int]string{
		46: "CUDA_ERROR_DEVICE_UNAVAILABLE", 100: "CUDA_ERROR_NO_DEVICE", 304: "CUDA_ERROR_OPERATING_SYSTEM", 802: "CUDA_ERROR_SYSTEM_NOT_READY",
		803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", 804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", 999: "CUDA_ERROR_UNKNOWN",
	}
	for _, call := range []string{
		"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
		"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuThreadExchangeStreamCaptureMode",
	} {
		for code, name := range names {
			t.Run(fmt.Sprint(call, code), func(t *testing.T) {
				needFake(t)
				for n := range int64(2) { // the device has two threads
					fake.Fail(call, n+1, int32(code))
					if n == 1 && call != "cuCtxSetCurrent" && call != "cuThreadExchangeStreamCaptureMode" {
						break
					}
					_, err := gpu.Open(gpu.Library(fake.File))
					var cause *gpu.DriverError
					if errors.Is(err, gpu.ErrNoDevice) != (code == driver.NoDevice) || !errors.As(err, &cause) {
						t.Fatalf("got %v, want a DriverError, and ErrNoDevice for %d alone", err, driver.NoDevice)
					}
					if cause.Call != call || cause.Code != code || cause.Name != name {
						t.Errorf("got %+v, want %s of %s", *cause, name, call)
					}
					if !strings.Contains(err.Error(), fake.File) {
						t.Errorf("%q does not name the library", err)
					}
					if hint := strings.HasSuffix(err.Error(), ")"); hint != (code != driver.NoDevice) {
						t.Errorf("%q: a hint: %v", err, hint)
					}
					fake.Fail(call, 1, int32(code))
					if m, _, err := gpu.Auto(gpu.Library(fake.File)); (err == nil) != (code == driver.NoDevice) {
						t.Errorf("Auto: got %v, %v", m, err)
					}
				}
			})
		}
	}
}

func TestADriverWithoutDevicesHasNone(t *testing.T) {
	needFake(t)
	fake.Devices(0)
	_, err := gpu.Open(gpu.Library(fake.File))
	if want := "gpu: no CUDA device: " + fake.File + " reports 0 devices"; err == nil || err.Error() != want || !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("got %v, want %s", err, want)
	}
	m, _, err := gpu.Auto(gpu.Library(fake.File))
	if err != nil || !strings.HasPrefix(fmt.Sprint(m), "Go's memory: ") {
		t.Errorf("Auto: got %v, %v", m, err)
	}
}

func TestUnknownErrorCodesAreReported(t *testing.T) {
	needFake(t)
	fake.Fail("cuInit", 1, 12345)
	_, err := gpu.Open(gpu.Library(fake.File))
	if err == nil || errors.Is(err, gpu.ErrNoDevice) || !strings.HasSuffix(err.Error(), "cuInit: unknown (12345): unknown") {
		t.Errorf("got %v", err)
	}
}

func TestAnOrdinalBeyondTheDevicesIsAnError(t *testing.T) {
	needFake(t)
	fake.Devices(2)
	_, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(2))
	if err == nil || errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "Ordinal(2): the driver has 2 devices, counted from 0") {
		t.Errorf("got %v", err)
	}
	if m, _, err := gpu.Auto(gpu.Library(fake.File), gpu.Ordinal(2)); err == nil {
		t.Errorf("Auto: got %v, want an error", m)
	}
}

func TestDeviceStaysOpenWhileItsMemoryIs(t *testing.T) {
	d := open(t)
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err == nil {
		t.Fatal("the device closed while its memory was open")
	}
	slab, err := p.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil || err.Error() != "gpu: close page-locked memory: 1 slab in use, 100 bytes in all" {
		t.Fatalf("Close while a slab is in use: got %v", err)
	}
	for _, err := range []error{p.Free(slab), p.Close(), p.Close(), d.Close(), d.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Alloc(100); !errors.Is(err, gpu.ErrClosed) || err.Error() != "gpu: page-locked memory: closed" {
		t.Errorf("Alloc after Close: got %v, want gpu: page-locked memory: closed", err)
	}
	if _, err := d.Pinned(); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Pinned after Close: got %v", err)
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
		t.Errorf("Pinned after a Close that failed: got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// TestAContextOfOthersIsUsedAndNotReleased: the fake driver counts retained contexts, and
// needFake checks that none is released twice.
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
