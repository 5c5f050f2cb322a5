package loader

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
)

// An Allocator provides the memory of batches. [New] calls it for the slabs: a slab
// is the memory of one batch. Later the loader calls it for ragged fields, whose
// size is not known before, and for batches larger than any before. Several
// goroutines may call it at once.
type Allocator interface {
	// Alloc returns n bytes or more, at an address that is a multiple of 64. Their
	// content may be anything. n is at least 1.
	Alloc(n int) ([]byte, error)
	// Free takes back a slice that Alloc returned.
	Free(slab []byte) error
}

// Heap is the default Allocator: Go's own memory.
type Heap struct{}

// alignment is the size in bytes of a cache line and of the widest vector register.
const alignment = 64

// Alloc returns n zero bytes. It is an error if the machine has less memory, where
// that is known. Without this error Go would end the program.
func (Heap) Alloc(n int) ([]byte, error) {
	if err := checkMachine(n); err != nil {
		return nil, err
	}
	b := make([]byte, n+alignment)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (alignment - 1)
	return b[skip : skip+n : skip+n], nil
}

// checkMachine reports an error if n is more bytes than the machine has. Go ends a
// program that allocates them.
func checkMachine(n int) error {
	if n < 1<<30 {
		return nil
	}
	if has := machine.Memory(); n > has {
		return fmt.Errorf("%s of memory: the machine has %s", figures.Bytes(int64(n)), figures.Bytes(int64(has)))
	}
	return nil
}

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// alloc calls an Allocator for n bytes, more than 0. The result may be longer.
func alloc(memory Allocator, n int) ([]byte, error) {
	b, err := memory.Alloc(n)
	if err != nil {
		return nil, err
	}
	switch address := uintptr(unsafe.Pointer(unsafe.SliceData(b))); {
	case len(b) < n:
		err = fmt.Errorf("Memory: Alloc(%d) returned %d bytes", n, len(b))
	case address%alignment != 0:
		err = fmt.Errorf("Memory: Alloc(%d) returned memory that is not aligned to %d bytes", n, alignment)
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
