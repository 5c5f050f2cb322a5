// Package gpu brings a loader's batches to a CUDA device: slabs in page-locked
// memory, which the device reads by itself, and uploads that run while the batch
// before is in use.
//
// It is experimental: nobody has run it on a device so far. Its tests use a fake
// driver that is as strict as NVIDIA's documentation allows. gpu/README.md says what
// is verified on what.
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
//		image := batch.Column("image") // its address on the device, its shape
//		…
//	}
//
// The driver is loaded when [Open] is called, without cgo, headers or a build tag; it
// must be of CUDA 11.0 or later. Where there is no device, Open says [ErrNoDevice] and
// why; so it does on every system but linux/amd64 and linux/arm64. A program that
// imports the package is linked dynamically on those two, even with CGO_ENABLED=0.
package gpu

import (
	"errors"
	"fmt"
)

// ErrNoDevice says that there is no CUDA device: no driver's library, or one that
// knows of no device. The error that wraps it says which. A device that is there and
// cannot be used is another error.
var ErrNoDevice = errors.New("gpu: no CUDA device")

// ErrClosed says that the device, its memory or its stage is closed.
var ErrClosed = errors.New("gpu: closed")

// ErrLost says that a context is lost: by a kernel that read or wrote outside its
// memory, for example, whoever launched it. Every later call of the driver returns the
// same error, so the call that is named need not be the one to blame; CUDA's
// compute-sanitizer finds that. What Close and Shutdown cannot give back then they
// drop. To use the device again, restart the process.
var ErrLost = errors.New("gpu: the CUDA context is lost")

// A DriverError is a call of the CUDA driver that failed.
type DriverError struct {
	Call    string // such as cuMemHostAlloc
	Code    int    // CUresult
	Name    string // the code's, such as CUDA_ERROR_OUT_OF_MEMORY
	Message string // the driver's explanation
}

// Error is like "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
func (e *DriverError) Error() string {
	text := fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Message)
	if e.Is(ErrLost) {
		text += "; the context is lost, perhaps by earlier work: restart the process"
	}
	return text
}

// Is reports that the error is [ErrLost].
func (e *DriverError) Is(target error) bool { return target == ErrLost && lost(e.Code) }

// lost says whether a context that gave the code gives no other any more, as
// CUresult's documentation has it.
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

// gone says whether what a call was to give back need not be given back again.
func gone(err error) bool { return err == nil || errors.Is(err, ErrLost) }

// join is errors.Join, but for [ErrLost], of which the first says it all.
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
