package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
)

// Error codes, CUresult.
const (
	invalidValue   = 1
	outOfMemory    = 2
	invalidDevice  = 101
	invalidImage   = 200
	invalidContext = 201
	invalidPTX     = 218
	invalidHandle  = 400
	notFound       = 500
)

// A provocation is a call that must fail, and leaves no harm. Several codes are right where
// NVIDIA's documentation names several, or drivers differ.
type provocation struct {
	call string
	how  string
	want []int
	args []uintptr
}

const tooMuch = math.MaxInt/8 + 1 // bytes: 2⁶⁰ where an int has 64 bits, more than any address space has

// checkFailures provokes an error of nearly every function that package gpu calls.
func checkFailures(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	out := make([]uint64, 64) // for results
	garbage, absent := append([]byte("no kernel"), 0), append([]byte("absent"), 0)
	if err := errors.Join(s.spin(s.stream, 1), s.wait(s.stream)); err != nil {
		return err
	}
	props := make([]uint64, 11) // CUmemPoolProps, of no type
	mode := []int32{99}
	arguments := []unsafe.Pointer{unsafe.Pointer(&out[0])}
	var pinner runtime.Pinner // the addresses are kept as numbers until the calls
	defer pinner.Unpin()
	for _, p := range []any{&out[0], &garbage[0], &absent[0], &props[0], &mode[0], &arguments[0]} {
		pinner.Pin(p)
	}
	to, unknown := uintptr(unsafe.Pointer(&out[0])), uintptr(unsafe.Pointer(&mode[0]))
	ordinary := []provocation{
		{"cuInit", "flags", []int{invalidValue}, []uintptr{1}},
		{"cuDeviceGet", "an ordinal beyond the devices", []int{invalidDevice, invalidValue}, []uintptr{to, 1 << 20}},
		{"cuDeviceGetName", "no device", []int{invalidDevice, invalidValue}, []uintptr{to, 64, 1 << 20}},
		{"cuDeviceGetAttribute", "an unknown attribute", []int{invalidValue}, []uintptr{to, 1 << 20, uintptr(s.handle)}},
		{"cuDevicePrimaryCtxRetain", "no device", []int{invalidDevice, invalidValue}, []uintptr{to, 1 << 20}},
		{"cuMemAlloc_v2", "0 bytes", []int{invalidValue}, []uintptr{to, 0}},
		{"cuMemAlloc_v2", "too many bytes", []int{outOfMemory}, []uintptr{to, tooMuch}},
		{"cuMemHostAlloc", "too many bytes", []int{outOfMemory, invalidValue}, []uintptr{to, tooMuch, hostAllocPortable}},
		{"cuMemFree_v2", "an address that nothing is at", []int{invalidValue}, []uintptr{256}},
		{"cuMemFreeHost", "Go's memory", []int{invalidValue}, []uintptr{to}},
		{"cuStreamCreate", "unknown flags", []int{invalidValue}, []uintptr{to, 1 << 20}},
		{"cuStreamDestroy_v2", "the default stream", []int{invalidHandle, invalidValue, invalidContext}, []uintptr{0}},
		{"cuEventCreate", "unknown flags", []int{invalidValue}, []uintptr{to, 1 << 20}},
		{"cuEventRecord", "no event", []int{invalidHandle, invalidValue}, []uintptr{0, s.stream}},
		{"cuEventQuery", "no event", []int{invalidHandle, invalidValue}, []uintptr{0}},
		{"cuEventSynchronize", "no event", []int{invalidHandle, invalidValue}, []uintptr{0}},
		{"cuEventDestroy_v2", "no event", []int{invalidHandle, invalidValue}, []uintptr{0}},
		{"cuModuleLoadData", "a text without kernels", []int{invalidImage, invalidPTX, invalidValue}, []uintptr{to, uintptr(unsafe.Pointer(&garbage[0]))}},
		{"cuModuleGetFunction", "an unknown kernel", []int{notFound}, []uintptr{to, s.module, uintptr(unsafe.Pointer(&absent[0]))}},
		{"cuLaunchKernel", "too many threads", []int{invalidValue}, []uintptr{s.functions["spin"], 1, 1, 1, 1 << 20, 1, 1, 0, s.stream, uintptr(unsafe.Pointer(&arguments[0])), 0}},
		{"cuGetErrorName", "an unknown code", []int{invalidValue}, []uintptr{54321, to}},
		{"cuGetErrorString", "an unknown code", []int{invalidValue}, []uintptr{54321, to}},
		{"cuThreadExchangeStreamCaptureMode", "an unknown mode", []int{invalidValue}, []uintptr{unknown}},
		{"cuPointerGetAttribute", "Go's memory", []int{invalidValue}, []uintptr{to, memoryType, to}},
	}
	if pools, _ := s.attribute(memoryPools, s.handle); pools != 0 {
		ordinary = append(ordinary, provocation{"cuMemPoolCreate", "no type", []int{invalidValue}, []uintptr{to, uintptr(unsafe.Pointer(&props[0]))}})
	}
	// A device that reads pageable memory takes any address, and finds out later.
	if pageable, _ := s.attribute(pageableAccess, s.handle); pageable == 0 {
		ordinary = append(ordinary,
			provocation{"cuMemcpyHtoDAsync_v2", "a destination that nothing is at", []int{invalidValue}, []uintptr{256, to, 64, s.stream}},
			provocation{"cuMemcpyDtoHAsync_v2", "a source that nothing is at", []int{invalidValue}, []uintptr{to, 256, 64, s.stream}})
	}
	homeless := []provocation{ // without a current context
		{"cuMemAlloc_v2", "no context", []int{invalidContext}, []uintptr{to, 4096}},
		{"cuMemHostAlloc", "no context", []int{invalidContext}, []uintptr{to, 4096, hostAllocPortable}},
		{"cuStreamCreate", "no context", []int{invalidContext}, []uintptr{to, streamNonBlocking}},
		{"cuEventCreate", "no context", []int{invalidContext}, []uintptr{to, 0}},
		{"cuStreamSynchronize", "no context", []int{invalidContext}, []uintptr{0}},
		{"cuMemGetInfo_v2", "no context", []int{invalidContext}, []uintptr{to, to}},
	}
	errs := []error{s.provoke(ordinary)}
	if err := s.call("cuCtxSetCurrent", 0); err != nil {
		return err
	}
	errs = append(errs, s.provoke(homeless), s.call("cuCtxSetCurrent", s.context))
	errs = append(errs, s.refusals(), s.unharmed())
	s.note("%d calls were made that must fail", len(ordinary)+len(homeless))
	return errors.Join(errs...)
}

// provoke makes calls that must fail.
func (s *subject) provoke(all []provocation) error {
	var errs []error
	for _, p := range all {
		s.step("%s with %s", p.call, p.how)
		err := s.call(p.call, p.args...)
		var got *gpu.DriverError
		switch {
		case err == nil:
			errs = append(errs, fmt.Errorf("%s with %s: no error, want code %v", p.call, p.how, p.want))
		case errors.As(err, &got) && got.Code == missing:
			s.note("%s: the driver lacks it", p.call)
		case errors.As(err, &got) && !slices.Contains(p.want, got.Code):
			errs = append(errs, fmt.Errorf("with %s: %w, want code %v", p.how, err, p.want))
		}
	}
	return errors.Join(errs...)
}

// refusals are errors of package gpu.
func (s *subject) refusals() error {
	s.step("a device beyond the last one")
	if _, err := gpu.Open(append(s.opening(), gpu.Ordinal(1<<20))...); err == nil || errors.Is(err, gpu.ErrNoDevice) {
		return fmt.Errorf("gpu.Open of a device beyond the last one: got %v, want an error other than ErrNoDevice", err)
	}
	d, err := gpu.Open(append(s.opening(), gpu.Limit(math.MaxInt64))...)
	if err != nil {
		return err
	}
	defer d.Close()
	p, err := d.Pinned()
	if err != nil {
		return err
	}
	defer p.Close()
	s.step("too much page-locked memory")
	_, err = p.Alloc(tooMuch)
	var failure *gpu.DriverError
	if !errors.As(err, &failure) || failure.Call != "cuMemHostAlloc" || p.Bytes() != 0 {
		return fmt.Errorf("allocation of %d bytes: got %v and %d bytes taken, want the failure of cuMemHostAlloc and none", tooMuch, err, p.Bytes())
	}
	s.note("too much page-locked memory: %v", err)
	return nil
}

// unharmed fails if the context does not work any more.
func (s *subject) unharmed() error {
	s.step("a copy after the failures")
	target, err := s.take(4096)
	if err != nil {
		return err
	}
	sums, err := s.take(8 * blocks * threads)
	if err != nil {
		return err
	}
	from := make([]byte, 4096)
	for i := range from {
		from[i] = byte(i * 3)
	}
	return s.exact(from, make([]byte, len(from)), target, sums)
}
