//go:build linux || darwin

package resize

import (
	"os"
	"syscall"
	"testing"
)

// guarded returns n bytes, a multiple of the page size. Any access to the pages
// before and after them crashes the test.
func guarded(tb testing.TB, n int) []byte {
	page := os.Getpagesize()
	all, err := syscall.Mmap(-1, 0, n+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { syscall.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+n:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			tb.Fatal(err)
		}
	}
	return all[page : page+n : page+n]
}
