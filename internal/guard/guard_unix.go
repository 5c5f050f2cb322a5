//go:build linux || darwin

// Package guard gives tests memory that ends at a page which must not be accessed.
package guard

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// AtEnd returns n values at the end of a page. Any access to the page after them
// crashes the test. The garbage collector does not see their pointers.
func AtEnd[T any](t *testing.T, n int) []T {
	t.Helper()
	page := os.Getpagesize()
	size := n * int(unsafe.Sizeof(*new(T)))
	m, err := syscall.Mmap(-1, 0, (size+page-1)/page*page+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	if err := syscall.Mprotect(m[len(m)-page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[len(m)-page-size])), n)
}
