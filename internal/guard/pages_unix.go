//go:build linux || darwin

package guard

import (
	"os"
	"syscall"
	"testing"
)

// pages returns n bytes, a multiple of the page size, between forbidden pages.
func pages(tb testing.TB, n int) []byte {
	page := os.Getpagesize()
	m, err := syscall.Mmap(-1, 0, n+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Munmap(m) })
	for _, fence := range [][]byte{m[:page], m[page+n:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			tb.Fatal(err)
		}
	}
	return m[page:][:n:n]
}
