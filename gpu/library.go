package gpu

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// A function is an entry point of the driver. The CUDA driver API documents its
// parameters and results.
type function int

const (
	cuInit function = iota
	cuDriverGetVersion
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuMemHostAlloc
	cuMemFreeHost
	cuMemAlloc
	cuMemFree
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuEventCreate
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventDestroy
	cuGetErrorName
	cuGetErrorString
	cuThreadExchangeStreamCaptureMode
	functions
)

// symbols are the names of the functions in the library. A name with _v2 is the
// current form of a function whose first form took 32-bit addresses or had another
// contract.
var symbols = [functions]string{
	"cuInit",
	"cuDriverGetVersion",
	"cuDeviceGetCount",
	"cuDeviceGet",
	"cuDeviceGetName",
	"cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxRelease_v2",
	"cuCtxSetCurrent",
	"cuMemHostAlloc",
	"cuMemFreeHost",
	"cuMemAlloc_v2",
	"cuMemFree_v2",
	"cuMemcpyHtoDAsync_v2",
	"cuMemcpyDtoHAsync_v2",
	"cuStreamCreate",
	"cuStreamDestroy_v2",
	"cuStreamSynchronize",
	"cuEventCreate",
	"cuEventRecord",
	"cuEventQuery",
	"cuEventSynchronize",
	"cuEventDestroy_v2",
	"cuGetErrorName",
	"cuGetErrorString",
	"cuThreadExchangeStreamCaptureMode",
}

// Numbers of the CUDA driver API.
const (
	hostAllocPortable   = 1 // CU_MEMHOSTALLOC_PORTABLE: page-locked in every context
	streamNonBlocking   = 1 // CU_STREAM_NON_BLOCKING: does not wait for the default stream
	streamPerThread     = 2 // CU_STREAM_PER_THREAD, a handle: the calling thread's default stream
	eventBlockingSync   = 1 // CU_EVENT_BLOCKING_SYNC: a thread that waits sleeps
	eventDisableTiming  = 2 // CU_EVENT_DISABLE_TIMING
	captureRelaxed      = 2 // CU_STREAM_CAPTURE_MODE_RELAXED
	eventFlags          = eventBlockingSync | eventDisableTiming
	deviceNameBytes     = 256
	longestDriverString = 1 << 12
)

const (
	notReady      = 600 // CUDA_ERROR_NOT_READY: the event is not complete yet, which is no failure
	noDevice      = 100 // CUDA_ERROR_NO_DEVICE
	invalidHandle = 400 // CUDA_ERROR_INVALID_HANDLE
)

// A library is the loaded driver. It is never unloaded, because the driver's own
// threads may run its code.
type library struct {
	entry [functions]uintptr
}

// errSystem means that this system cannot load a driver.
var errSystem = errors.New("not supported on this system")

// load finds the driver's entry points in a file. A missing file is ErrNoDevice only
// if the caller did not ask for that file.
func load(file string, asked bool) (*library, error) {
	symbol, err := open(file)
	if errors.Is(err, errSystem) || err != nil && !asked && absent(file, err) {
		return nil, fmt.Errorf("%w: load %s: %w", ErrNoDevice, file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("gpu: load %s: %w", file, err)
	}
	l := new(library)
	for f, name := range symbols {
		if l.entry[f], err = symbol(name); err != nil {
			return nil, fmt.Errorf("gpu: %s has no %s: it is not a CUDA driver, or older than CUDA 11.0: %w", file, name, err)
		}
	}
	return l, nil
}

// absent reports whether the dynamic linker did not find the file itself. If the file
// needs another one that is missing, the linker's message names that one instead.
func absent(file string, err error) bool {
	text := err.Error()
	return strings.Contains(text, file+": ") && strings.HasSuffix(text, "No such file or directory")
}

// call calls f. Convert pointers to uintptr in the argument list itself: this keeps
// the memory that they point to alive and in place until call returns.
//
//go:uintptrescapes
func (l *library) call(f function, args ...uintptr) error {
	if code := invoke(l.entry[f], args...); code != 0 {
		return l.describe(f, code)
	}
	return nil
}

// passed reports whether an event is complete.
func (l *library) passed(event uintptr) (bool, error) {
	switch code := invoke(l.entry[cuEventQuery], event); code {
	case 0:
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, l.describe(cuEventQuery, code)
	}
}

func (l *library) describe(f function, code int32) *DriverError {
	return &DriverError{
		Call:    symbols[f],
		Code:    int(code),
		Name:    l.text(cuGetErrorName, code),
		Message: l.text(cuGetErrorString, code),
	}
}

// text returns the driver's name or description of an error code.
func (l *library) text(f function, code int32) string {
	var s *byte
	if invoke(l.entry[f], uintptr(code), uintptr(unsafe.Pointer(&s))) != 0 || s == nil {
		return "unknown"
	}
	n := 0
	for n < longestDriverString && *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
