package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
)

// A subject is the device under test, in the process of one check. It uses the device's
// primary context twice: as package gpu does, and by driver calls of its own on the
// thread of the check.
type subject struct {
	options
	*driver
	out   io.Writer
	notes []string

	device    *gpu.Device
	handle    int32   // CUdevice
	context   uintptr // the primary one
	stream    uintptr
	other     uintptr // a second stream
	module    uintptr
	functions map[string]uintptr
	closing   []func() error
}

// step says what comes next, in case that it crashes.
func (s *subject) step(format string, args ...any) {
	fmt.Fprintf(s.out, stepMark+format+"\n", args...)
}

// note adds a line to the report.
func (s *subject) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// later closes something when the check ends, after what was opened later.
func (s *subject) later(f func() error) { s.closing = append(s.closing, f) }

// close ends everything, even if some calls fail.
func (s *subject) close() error {
	s.step("closing")
	var errs []error
	for _, f := range slices.Backward(s.closing) {
		errs = append(errs, f())
	}
	s.closing = nil
	return errors.Join(errs...)
}

//go:embed selftest.ptx
var ptx string

const (
	hostAllocPortable = 1 // CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE
	streamNonBlocking = 1 // CU_STREAM_NON_BLOCKING
)

// open opens the device, makes its context current and loads the kernels.
func (s *subject) open() (err error) {
	s.step("opening the device")
	if s.device, err = gpu.Open(s.opening()...); err != nil {
		return err
	}
	s.later(s.device.Close)
	if s.driver, err = load(cmp.Or(s.library, "libcuda.so.1")); err != nil {
		return err
	}
	if err := s.call("cuInit", 0); err != nil {
		return err
	}
	if err := s.call("cuDeviceGet", uintptr(unsafe.Pointer(&s.handle)), uintptr(s.ordinal)); err != nil {
		return err
	}
	if err := s.call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&s.context)), uintptr(s.handle)); err != nil {
		return err
	}
	s.later(func() error { return s.call("cuDevicePrimaryCtxRelease_v2", uintptr(s.handle)) })
	if err := s.call("cuCtxSetCurrent", s.context); err != nil {
		return err
	}
	s.later(func() error { return s.call("cuCtxSetCurrent", 0) })
	for _, stream := range []*uintptr{&s.stream, &s.other} {
		if err := s.call("cuStreamCreate", uintptr(unsafe.Pointer(stream)), streamNonBlocking); err != nil {
			return err
		}
		s.later(func() error { return s.call("cuStreamDestroy_v2", *stream) })
	}
	s.step("loading the kernels")
	text := append([]byte(ptx), 0)
	if err := s.call("cuModuleLoadData", uintptr(unsafe.Pointer(&s.module)), uintptr(unsafe.Pointer(&text[0]))); err != nil {
		return err
	}
	s.later(func() error { return s.call("cuModuleUnload", s.module) })
	s.functions = map[string]uintptr{}
	return nil
}

// take allocates device memory until the check ends.
func (s *subject) take(n int) (base uintptr, err error) {
	if err := s.call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&base)), uintptr(n)); err != nil {
		return 0, err
	}
	s.later(func() error { return s.call("cuMemFree_v2", base) })
	return base, nil
}

// pinned allocates page-locked memory of package gpu until the check ends.
func (s *subject) pinned(n int) ([]byte, error) {
	p, err := s.device.Pinned()
	if err != nil {
		return nil, err
	}
	s.later(p.Close)
	slab, err := p.Alloc(n)
	if err != nil {
		return nil, err
	}
	s.later(func() error { return p.Free(slab) })
	return slab, nil
}

const (
	blocks  = 16
	threads = 128
)

// launch starts a kernel. Each argument has the bits of its parameter: the processors and
// devices that CUDA runs on are little-endian.
func (s *subject) launch(kernel string, stream uintptr, args ...uint64) error {
	f := s.functions[kernel]
	if f == 0 {
		name := append([]byte(kernel), 0)
		if err := s.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), s.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
			return err
		}
		s.functions[kernel] = f
	}
	grid, block := uintptr(blocks), uintptr(threads)
	if kernel == "spin" || kernel == "poke" {
		grid, block = 1, 1
	}
	values := slices.Clone(args)
	pointers := make([]unsafe.Pointer, len(values))
	for i := range values {
		pointers[i] = unsafe.Pointer(&values[i])
	}
	err := s.call("cuLaunchKernel", f, grid, 1, 1, block, 1, 1, 0, stream, uintptr(unsafe.Pointer(&pointers[0])), 0)
	runtime.KeepAlive(values)
	return err
}

// spin keeps a stream busy.
func (s *subject) spin(stream uintptr, d time.Duration) error {
	return s.launch("spin", stream, uint64(d))
}

// up and down enqueue copies. The caller keeps the memory until they are complete.
func (s *subject) up(to uintptr, from []byte, stream uintptr) error {
	return s.call("cuMemcpyHtoDAsync_v2", to, uintptr(unsafe.Pointer(unsafe.SliceData(from))), uintptr(len(from)), stream)
}

func (s *subject) down(to []byte, from uintptr, stream uintptr) error {
	return s.call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(unsafe.SliceData(to))), from, uintptr(len(to)), stream)
}

// wait waits for a stream.
func (s *subject) wait(stream uintptr) error { return s.call("cuStreamSynchronize", stream) }

// timed returns how long work takes until the streams have done it.
func (s *subject) timed(work ...func() error) (time.Duration, error) {
	begun := time.Now()
	for _, f := range append(work, func() error { return s.wait(s.stream) }, func() error { return s.wait(s.other) }) {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}
