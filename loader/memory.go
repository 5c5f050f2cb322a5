package loader

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/penstock-go/penstock/internal/figures"
)

// An Allocator provides the memory of the slabs that batches are assembled in. It
// is called when the loader is made. Later it is called for ragged fields, whose
// size is known only then, and for batches larger than any before. Several
// goroutines may call it at once.
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

// Alloc returns n zero bytes. More than the machine has, where that is known, is an
// error; a program that is out of memory otherwise ends.
func (Heap) Alloc(n int) ([]byte, error) {
	if err := checkMachine(n); err != nil {
		return nil, err
	}
	b := make([]byte, n+alignment)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (alignment - 1)
	return b[skip : skip+n : skip+n], nil
}

// checkMachine reports more bytes than the machine has. Go ends a program that
// asks for them.
func checkMachine(n int) error {
	if n < 1<<30 {
		return nil
	}
	if has := machineMemory(); n > has {
		return fmt.Errorf("%s of memory: the machine has %s", figures.Bytes(int64(n)), figures.Bytes(int64(has)))
	}
	return nil
}

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// alloc asks an Allocator for n bytes, more than 0. What it gives may be longer.
func alloc(memory Allocator, n int) ([]byte, error) {
	b, err := memory.Alloc(n)
	if err != nil {
		return nil, err
	}
	switch address := uintptr(unsafe.Pointer(unsafe.SliceData(b))); {
	case len(b) < n:
		err = fmt.Errorf("Memory: Alloc(%d) gave %d bytes", n, len(b))
	case address%alignment != 0:
		err = fmt.Errorf("Memory: Alloc(%d) gave memory that is not aligned to %d bytes", n, alignment)
	default:
		return b, nil
	}
	return nil, errors.Join(err, memory.Free(b))
}

// touch writes to every page, so that the system maps it now and not while a
// batch is assembled.
func touch(b []byte) {
	const page = 4096
	for i := 0; i < len(b); i += page {
		b[i] = 0
	}
}
