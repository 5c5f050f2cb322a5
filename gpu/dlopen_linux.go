//go:build amd64 || arm64

package gpu

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// open loads a shared library and returns a function that looks up its symbols.
func open(file string) (symbol func(name string) (uintptr, error), err error) {
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
func invoke(fn uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return int32(r)
}
