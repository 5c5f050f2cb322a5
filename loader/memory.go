package loader

import "unsafe"

// An Allocator provides the memory of the slabs that batches are assembled in.
// The loader calls it when it is made, and while it runs only until ragged fields
// have reached their largest size. It may be called by several goroutines at once.
type Allocator interface {
	// Alloc returns n bytes, aligned to 64.
	Alloc(n int) ([]byte, error)
	// Free takes back what Alloc returned.
	Free(slab []byte) error
}

// Heap is the default Allocator: Go's own memory.
type Heap struct{}

// alignment is a cache line, and the widest vector there is.
const alignment = 64

// Alloc returns n zero bytes. It does not fail: a program that is out of memory ends.
func (Heap) Alloc(n int) ([]byte, error) {
	b := make([]byte, n+alignment)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (alignment - 1)
	return b[skip : skip+n : skip+n], nil
}

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// touch writes to every page, so that the system maps it now and not while a
// batch is assembled.
func touch(b []byte) {
	const page = 4096
	for i := 0; i < len(b); i += page {
		b[i] = 0
	}
}
