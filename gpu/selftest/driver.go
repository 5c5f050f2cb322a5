package main

import (
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
)

// A driver is the loaded driver. The CUDA driver API documents its functions.
type driver struct {
	symbol func(name string) (uintptr, error)
	entry  map[string]uintptr
}

const (
	missing  = -1  // in place of a result: the driver lacks the function
	notReady = 600 // CUDA_ERROR_NOT_READY
)

// code calls a function and returns its CUresult. Convert pointers to uintptr in the
// argument list itself.
//
//go:uintptrescapes
func (d *driver) code(name string, args ...uintptr) int32 {
	f, ok := d.entry[name]
	if !ok {
		f, _ = d.symbol(name) // 0 if there is none
		d.entry[name] = f
	}
	if f == 0 {
		return missing
	}
	return invoke(f, args...)
}

// call is code, as an error.
//
//go:uintptrescapes
func (d *driver) call(name string, args ...uintptr) error {
	code := d.code(name, args...)
	if code == 0 {
		return nil
	}
	return d.describe(name, code)
}

func (d *driver) describe(name string, code int32) error {
	if code == missing {
		return &gpu.DriverError{Call: name, Code: missing, Name: "no such function", Message: "the driver lacks it"}
	}
	return &gpu.DriverError{Call: name, Code: int(code), Name: d.text("cuGetErrorName", code), Message: d.text("cuGetErrorString", code)}
}

// text returns the driver's name or description of an error code.
func (d *driver) text(function string, code int32) string {
	var s *byte
	if d.code(function, uintptr(code), uintptr(unsafe.Pointer(&s))) != 0 || s == nil {
		return "unknown"
	}
	n := 0
	for n < 1<<12 && *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// attribute returns a CUdevice_attribute, and false if the driver does not know it.
func (d *driver) attribute(number, device int32) (value int32, known bool) {
	known = d.code("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&value)), uintptr(number), uintptr(device)) == 0
	return value, known
}
