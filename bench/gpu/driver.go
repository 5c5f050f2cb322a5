//go:build linux && (amd64 || arm64)

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// spinPTX is a kernel that keeps the device busy for a given time.
//
//go:embed spin.ptx
var spinPTX string

// A driver makes the benchmark's own calls of the CUDA driver: plain copies, and a kernel of
// known duration. It is bound to the thread that opened it.
type driver struct {
	calls
	context, module, function, stream uintptr
	begun, ended                      uintptr // events
}

// calls are entry points of libcuda.so.1; see the CUDA driver API.
type calls struct {
	cuInit                       func(flags uint32) int32
	cuDeviceGet                  func(device *int32, ordinal int32) int32
	cuDevicePrimaryCtxRetain     func(context *uintptr, device int32) int32
	cuDevicePrimaryCtxRelease_v2 func(device int32) int32
	cuCtxSetCurrent              func(context uintptr) int32
	cuMemAlloc_v2                func(memory *uintptr, bytes uintptr) int32
	cuMemFree_v2                 func(memory uintptr) int32
	cuMemcpyHtoDAsync_v2         func(to uintptr, from unsafe.Pointer, bytes, stream uintptr) int32
	cuStreamCreate               func(stream *uintptr, flags uint32) int32
	cuStreamDestroy_v2           func(stream uintptr) int32
	cuStreamSynchronize          func(stream uintptr) int32
	cuEventCreate                func(event *uintptr, flags uint32) int32
	cuEventRecord                func(event, stream uintptr) int32
	cuEventElapsedTime           func(ms *float32, begun, ended uintptr) int32
	cuEventDestroy_v2            func(event uintptr) int32
	cuModuleLoadData             func(module *uintptr, text *byte) int32
	cuModuleUnload               func(module uintptr) int32
	cuModuleGetFunction          func(function *uintptr, module uintptr, name *byte) int32
	cuLaunchKernel               func(function uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, args, extra *unsafe.Pointer) int32
}

const streamNonBlocking = 1 // CU_STREAM_NON_BLOCKING

// openDriver loads the driver, and locks the calling goroutine to its thread until close.
func openDriver(library string) (_ *driver, err error) {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	d := &driver{}
	for name, f := range map[string]any{
		"cuInit": &d.cuInit, "cuDeviceGet": &d.cuDeviceGet, "cuDevicePrimaryCtxRetain": &d.cuDevicePrimaryCtxRetain,
		"cuDevicePrimaryCtxRelease_v2": &d.cuDevicePrimaryCtxRelease_v2, "cuCtxSetCurrent": &d.cuCtxSetCurrent,
		"cuMemAlloc_v2": &d.cuMemAlloc_v2, "cuMemFree_v2": &d.cuMemFree_v2, "cuMemcpyHtoDAsync_v2": &d.cuMemcpyHtoDAsync_v2,
		"cuEventCreate": &d.cuEventCreate, "cuEventRecord": &d.cuEventRecord, "cuEventElapsedTime": &d.cuEventElapsedTime, "cuEventDestroy_v2": &d.cuEventDestroy_v2,
		"cuStreamCreate": &d.cuStreamCreate, "cuStreamDestroy_v2": &d.cuStreamDestroy_v2,
		"cuStreamSynchronize": &d.cuStreamSynchronize, "cuModuleLoadData": &d.cuModuleLoadData,
		"cuModuleUnload": &d.cuModuleUnload, "cuModuleGetFunction": &d.cuModuleGetFunction, "cuLaunchKernel": &d.cuLaunchKernel,
	} {
		if _, err := purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("%s has no %s: %w", library, name, err)
		}
		purego.RegisterLibFunc(f, handle, name)
	}
	runtime.LockOSThread()
	if err := d.take(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// take makes the first device's primary context current, and the kernel ready.
func (d *driver) take() error {
	var device int32
	text, name := append([]byte(spinPTX), 0), []byte("spin\x00")
	for _, step := range []struct {
		call string
		f    func() int32
	}{
		{"cuInit", func() int32 { return d.cuInit(0) }},
		{"cuDeviceGet", func() int32 { return d.cuDeviceGet(&device, 0) }},
		{"cuDevicePrimaryCtxRetain", func() int32 { return d.cuDevicePrimaryCtxRetain(&d.context, device) }},
		{"cuCtxSetCurrent", func() int32 { return d.cuCtxSetCurrent(d.context) }},
		{"cuModuleLoadData", func() int32 { return d.cuModuleLoadData(&d.module, &text[0]) }},
		{"cuModuleGetFunction", func() int32 { return d.cuModuleGetFunction(&d.function, d.module, &name[0]) }},
		{"cuStreamCreate", func() int32 { return d.cuStreamCreate(&d.stream, streamNonBlocking) }},
		{"cuEventCreate", func() int32 { return d.cuEventCreate(&d.begun, 0) }},
		{"cuEventCreate", func() int32 { return d.cuEventCreate(&d.ended, 0) }},
	} {
		if err := failed(step.call, step.f()); err != nil {
			return err
		}
	}
	return nil
}

// timed enqueues work on the stream, waits for its end, and returns the seconds that passed on
// the device. It measures them with events, because a call may return before its copy ends.
func (d *driver) timed(call string, work func() int32) (seconds float64, err error) {
	var ms float32
	for _, step := range []struct {
		call string
		f    func() int32
	}{
		{"cuEventRecord", func() int32 { return d.cuEventRecord(d.begun, d.stream) }},
		{call, work},
		{"cuEventRecord", func() int32 { return d.cuEventRecord(d.ended, d.stream) }},
		{"cuStreamSynchronize", func() int32 { return d.cuStreamSynchronize(d.stream) }},
		{"cuEventElapsedTime", func() int32 { return d.cuEventElapsedTime(&ms, d.begun, d.ended) }},
	} {
		if err := failed(step.call, step.f()); err != nil {
			return 0, err
		}
	}
	return float64(ms) / 1e3, nil
}

// spin keeps the device busy for a time, and returns how long that took there.
func (d *driver) spin(duration time.Duration) (seconds float64, err error) {
	ns := uint64(duration)
	arg := unsafe.Pointer(&ns)
	var pinner runtime.Pinner
	pinner.Pin(&ns)
	defer pinner.Unpin()
	return d.timed("cuLaunchKernel", func() int32 {
		return d.cuLaunchKernel(d.function, 1, 1, 1, 1, 1, 1, 0, d.stream, &arg, nil)
	})
}

// alloc takes device memory.
func (d *driver) alloc(bytes int) (memory uintptr, err error) {
	err = failed("cuMemAlloc", d.cuMemAlloc_v2(&memory, uintptr(bytes)))
	return memory, err
}

func (d *driver) free(memory uintptr) error { return failed("cuMemFree", d.cuMemFree_v2(memory)) }

// upload copies to the device, waits for the end of the copy and returns its time.
func (d *driver) upload(to uintptr, from unsafe.Pointer, bytes int) (seconds float64, err error) {
	return d.timed("cuMemcpyHtoDAsync", func() int32 { return d.cuMemcpyHtoDAsync_v2(to, from, uintptr(bytes), d.stream) })
}

// close frees everything that take has allocated.
func (d *driver) close() error {
	defer runtime.UnlockOSThread()
	var errs []error
	for _, event := range []uintptr{d.begun, d.ended} {
		if event != 0 {
			errs = append(errs, failed("cuEventDestroy", d.cuEventDestroy_v2(event)))
		}
	}
	if d.stream != 0 {
		errs = append(errs, failed("cuStreamDestroy", d.cuStreamDestroy_v2(d.stream)))
	}
	if d.module != 0 {
		errs = append(errs, failed("cuModuleUnload", d.cuModuleUnload(d.module)))
	}
	if d.context != 0 {
		errs = append(errs, failed("cuCtxSetCurrent", d.cuCtxSetCurrent(0)))
		errs = append(errs, failed("cuDevicePrimaryCtxRelease", d.cuDevicePrimaryCtxRelease_v2(0)))
	}
	return errors.Join(errs...)
}

func failed(call string, code int32) error {
	if code != 0 {
		return fmt.Errorf("%s: CUDA error %d", call, code)
	}
	return nil
}
