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

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// A subject is the device under test, in the process of one check. It uses the device's
// primary context twice: as package gpu does, and by driver calls of its own on the
// thread of the check.
type subject struct {
	options
	report io.Writer

	symbol  func(name string) (uintptr, error) // of the driver
	device  *gpu.Device
	handle  int32   // CUdevice
	context uintptr // the primary one
	stream  uintptr
	other   uintptr // a second stream
	module  uintptr
	closing []func() error
}

// note adds a line to the report.
func (s *subject) note(format string, args ...any) {
	fmt.Fprintf(s.report, "    "+format+"\n", args...)
}

// later closes something when the check ends, after what was opened later.
func (s *subject) later(f func() error) { s.closing = append(s.closing, f) }

// close ends everything, even if some calls fail.
func (s *subject) close() error {
	var errs []error
	for _, f := range slices.Backward(s.closing) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

//go:embed selftest.ptx
var ptx string

const (
	hostAllocPortable = 1   // CU_MEMHOSTALLOC_PORTABLE
	streamNonBlocking = 1   // CU_STREAM_NON_BLOCKING
	notReady          = 600 // CUDA_ERROR_NOT_READY
)

// open opens the device, makes its context current and loads the kernels.
func (s *subject) open() (err error) {
	if s.device, err = gpu.Open(s.opening()...); err != nil {
		return err
	}
	s.later(s.device.Close)
	if s.symbol, err = load(cmp.Or(s.library, "libcuda.so.1")); err != nil {
		return err
	}
	text := append([]byte(ptx), 0)
	for _, call := range []func() error{
		func() error { return s.call("cuInit", 0) },
		func() error {
			return s.call("cuDeviceGet", uintptr(unsafe.Pointer(&s.handle)), uintptr(s.ordinal))
		},
		func() error {
			return s.call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&s.context)), uintptr(s.handle))
		},
		func() error { return s.call("cuCtxSetCurrent", s.context) },
		func() error {
			return s.call("cuStreamCreate", uintptr(unsafe.Pointer(&s.stream)), streamNonBlocking)
		},
		func() error {
			return s.call("cuStreamCreate", uintptr(unsafe.Pointer(&s.other)), streamNonBlocking)
		},
		func() error {
			return s.call("cuModuleLoadData", uintptr(unsafe.Pointer(&s.module)), uintptr(unsafe.Pointer(&text[0])))
		},
	} {
		if err := call(); err != nil {
			return err
		}
	}
	s.later(func() error {
		return errors.Join(s.call("cuModuleUnload", s.module), s.call("cuStreamDestroy_v2", s.other), s.call("cuStreamDestroy_v2", s.stream),
			s.call("cuCtxSetCurrent", 0), s.call("cuDevicePrimaryCtxRelease_v2", uintptr(s.handle)))
	})
	return nil
}

// code calls a function of the driver and returns its CUresult, or -1 if the driver lacks it.
// Convert pointers to uintptr in the argument list itself.
//
//go:uintptrescapes
func (s *subject) code(name string, args ...uintptr) int32 {
	f, err := s.symbol(name)
	if err != nil {
		return -1
	}
	return invoke(f, args...)
}

// call is code, as an error.
//
//go:uintptrescapes
func (s *subject) call(name string, args ...uintptr) error {
	if code := s.code(name, args...); code != 0 {
		return &gpu.DriverError{Call: name, Code: int(code), Name: "CUresult"}
	}
	return nil
}

// attribute is a CUdevice_attribute, or 0 if the driver does not know it.
func (s *subject) attribute(number int32) (value int32) {
	s.code("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&value)), uintptr(number), uintptr(s.handle))
	return value
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

// staged makes a stage over a loader in page-locked memory, until the check ends.
func (s *subject) staged(ds dataset.Dataset, batch, buffers int) (*gpu.Stage, error) {
	p, err := s.device.Pinned()
	if err != nil {
		return nil, err
	}
	s.later(p.Close)
	l, err := loader.New(ds, loader.Memory(p), loader.BatchSize(batch), loader.Workers(2))
	if err != nil {
		return nil, err
	}
	s.later(l.Close)
	stage, err := gpu.NewStage(s.device, l, gpu.Buffers(buffers))
	if err != nil {
		return nil, err
	}
	s.later(stage.Close)
	return stage, nil
}

const (
	blocks  = 16
	threads = 128
)

// launch starts a kernel. Each argument has the bits of its parameter: the processors and
// devices that CUDA runs on are little-endian.
func (s *subject) launch(kernel string, stream uintptr, args ...uint64) error {
	var f uintptr
	name := append([]byte(kernel), 0)
	if err := s.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), s.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return err
	}
	grid, block := uintptr(blocks), uintptr(threads)
	if kernel == "spin" || kernel == "poke" {
		grid, block = 1, 1
	}
	pointers := make([]unsafe.Pointer, len(args))
	for i := range args {
		pointers[i] = unsafe.Pointer(&args[i])
	}
	err := s.call("cuLaunchKernel", f, grid, 1, 1, block, 1, 1, 0, stream, uintptr(unsafe.Pointer(&pointers[0])), 0)
	runtime.KeepAlive(args)
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

// sum makes the kernel sums sum up n bytes of device memory, into sums, and adds its parts.
func (s *subject) sum(at uintptr, n int, sums uintptr) (total uint64, err error) {
	if err := s.launch("sums", s.stream, uint64(at), uint64(n), uint64(sums)); err != nil {
		return 0, err
	}
	return s.total(sums)
}

// total adds what the threads of the kernel sums have written, on the subject's stream.
func (s *subject) total(sums uintptr) (total uint64, err error) {
	parts := make([]uint64, blocks*threads)
	p := unsafe.Slice((*byte)(unsafe.Pointer(&parts[0])), 8*len(parts))
	if err := errors.Join(s.down(p, sums, s.stream), s.wait(s.stream)); err != nil {
		return 0, err
	}
	for _, part := range parts {
		total += part
	}
	return total, nil
}

// weighted is the sum that the kernel sums makes.
func weighted(p []byte) (sum uint64) {
	for i, b := range p {
		sum += uint64(b) * uint64(i%65521+1)
	}
	return sum
}
