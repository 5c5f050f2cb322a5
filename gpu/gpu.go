// Package gpu brings a loader's batches to a CUDA device. The loader's slabs are in
// page-locked memory, which the device reads directly. A [Stage] uploads the next
// batches while the loop body uses the current one.
//
// It is experimental: it has not run on a real device yet. Its tests use a fake
// driver that is as strict as NVIDIA's documentation allows. gpu/README.md lists what
// is verified, and on what.
//
//	device, err := gpu.Open()
//	…
//	memory, err := device.Pinned()
//	…
//	l, err := loader.New(ds, loader.Memory(memory))
//	…
//	stage, err := gpu.NewStage(device, l)
//	…
//	for batch, err := range stage.Epoch(ctx, 0) {
//		if err != nil {
//			return err
//		}
//		image := batch.Column("image") // its device pointer, shape and dtype
//		…
//	}
//
// [Open] loads the driver at run time, so the package needs no cgo, no CUDA headers
// and no build tag. The driver must be of CUDA 11.0 or later. If there is no device,
// Open returns an error that wraps [ErrNoDevice] and gives the reason. It does so on
// every system other than linux/amd64 and linux/arm64. On these two, a program that
// imports the package is linked dynamically, even with CGO_ENABLED=0.
package gpu

import (
	"errors"
	"fmt"
)

// ErrNoDevice means that there is no CUDA device: the driver's library is missing, or
// it reports no device. The error that wraps it says which. A device that exists but
// cannot be used gives another error.
var ErrNoDevice = errors.New("gpu: no CUDA device")

// ErrClosed means that the device, its memory or its stage is closed. The error that
// wraps it says which.
var ErrClosed = errors.New("closed")

// ErrLost means that the CUDA context is lost, for example because a kernel of any
// library in the process read or wrote outside its memory. Every later driver call
// returns the same error, so the call that the error names may not be the cause.
// CUDA's compute-sanitizer finds the cause. Close drops what it can no longer free. To
// use the device again, restart the process.
var ErrLost = errors.New("gpu: the CUDA context is lost")

// A DriverError is the failure of a CUDA driver call.
type DriverError struct {
	Call    string // the function, such as cuMemHostAlloc
	Code    int    // the CUresult that it returned
	Name    string // the name of the code, such as CUDA_ERROR_OUT_OF_MEMORY
	Message string // the driver's description of the code
}

// Error returns a text such as "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
func (e *DriverError) Error() string {
	text := fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Message)
	if e.Is(ErrLost) {
		text += "; the context is lost, perhaps by earlier work: restart the process"
	}
	return text
}

// Is reports whether target is [ErrLost] and the code means that the context is lost.
func (e *DriverError) Is(target error) bool { return target == ErrLost && lost(e.Code) }

// lost reports whether, according to CUresult's documentation, every later call in
// the context returns the same code.
func lost(code int) bool {
	switch code {
	case 214, 220, // CUDA_ERROR_ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE
		226,                // CUDA_ERROR_CONTAINED
		700, 702, 709, 710, // ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, CONTEXT_IS_DESTROYED, ASSERT
		714, 715, 716, 717, 718, 719, 721, // HARDWARE_STACK_ERROR to LAUNCH_FAILED, TENSOR_MEMORY_LEAK
		810: // CUDA_ERROR_MPS_CLIENT_TERMINATED
		return true
	}
	return false
}

// gone reports whether there is nothing left to free: the call that frees it has
// succeeded, or the context is lost.
func gone(err error) bool { return err == nil || errors.Is(err, ErrLost) }

// join is errors.Join, but keeps only the first [ErrLost]: the others would repeat it.
func join(errs ...error) error {
	var said bool
	var kept []error
	for _, err := range errs {
		if errors.Is(err, ErrLost) {
			if said {
				continue
			}
			said = true
		}
		kept = append(kept, err)
	}
	return errors.Join(kept...)
}

// An Option changes what [Open] and [Auto] do. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	ordinal int
	library string
	asked   bool // the caller chose library
	context uintptr
}

// Ordinal chooses the device by its number, from 0. The default is 0. The environment
// variable CUDA_VISIBLE_DEVICES decides which devices the driver counts.
func Ordinal(n int) Option { return Option{func(c *config) { c.ordinal = n }} }

// Library sets the driver's file. The default is libcuda.so.1, which the system's
// dynamic linker looks up. If path does not exist, [Open] fails, and the error is not
// [ErrNoDevice].
func Library(path string) Option {
	return Option{func(c *config) { c.library, c.asked = path, true }}
}

// Context uses an existing CUcontext on the device in place of the device's primary
// context. Use it if another library works in a context of its own, which cannot
// access memory of the primary one. The context must outlive the [Device], which
// does not destroy it.
func Context(handle uintptr) Option { return Option{func(c *config) { c.context = handle }} }

func newConfig(options []Option) (config, error) {
	c := config{library: "libcuda.so.1"}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	var errs []error
	if c.ordinal < 0 {
		errs = append(errs, fmt.Errorf("gpu: Ordinal(%d): want 0 or more", c.ordinal))
	}
	if c.library == "" {
		errs = append(errs, errors.New(`gpu: Library(""): want a file`))
	}
	return c, errors.Join(errs...)
}
