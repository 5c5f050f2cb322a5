//go:build amd64 || arm64

package main

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// load loads the driver and returns a function that looks up its functions.
func load(file string) (func(name string) (uintptr, error), error) {
	runtime.LockOSThread() // the linker keeps its error message per thread
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	return func(name string) (uintptr, error) { return purego.Dlsym(handle, name) }, nil
}

// invoke calls a C function that returns an int.
//
//go:uintptrescapes
func invoke(f uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(f, args...)
	return int32(r)
}
