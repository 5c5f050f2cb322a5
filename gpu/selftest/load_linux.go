//go:build amd64 || arm64

package main

import (
	"runtime"
	"syscall"

	"github.com/ebitengine/purego"
)

func load(file string) (*driver, error) {
	runtime.LockOSThread() // the linker keeps its error message per thread
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	symbol := func(name string) (uintptr, error) { return purego.Dlsym(handle, name) }
	return &driver{symbol: symbol, entry: map[string]uintptr{}}, nil
}

// invoke calls a C function that returns an int.
//
//go:uintptrescapes
func invoke(f uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(f, args...)
	return int32(r)
}

// pages takes n bytes from the system, outside Go's heap, for the driver to page-lock.
func pages(n int) ([]byte, func() error, error) {
	p, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	return p, func() error { return syscall.Munmap(p) }, nil
}
