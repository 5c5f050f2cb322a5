// Package gpu brings a loader's batches to a CUDA device: slabs in page-locked
// memory, which the device reads by itself, and uploads that run while the batch
// before is in use.
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
// The driver is loaded when [Open] is called, without cgo, headers or a build
// tag. Where there is none, Open says [ErrNoDevice] and why; so it does on
// every system but linux/amd64 and linux/arm64. A program that imports the package
// is linked dynamically on those two, even with CGO_ENABLED=0.
package gpu

import (
	"errors"
	"fmt"
)

// ErrNoDevice says that there is no CUDA device to be used. The error that wraps
// it names the library that was looked for and what failed.
var ErrNoDevice = errors.New("gpu: no CUDA device")

// ErrClosed says that the device, its memory or its stage is closed.
var ErrClosed = errors.New("gpu: closed")

// A DriverError is a call of the CUDA driver that failed.
type DriverError struct {
	Call    string // such as cuMemHostAlloc
	Code    int    // CUresult
	Name    string // the code's, such as CUDA_ERROR_OUT_OF_MEMORY
	Message string // the driver's explanation
}

// Error is like "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
func (e *DriverError) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Message)
}
