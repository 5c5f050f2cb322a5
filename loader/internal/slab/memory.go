package slab

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
)

// An Allocator provides memory. It is the public interface of package loader, which documents it.
type Allocator interface {
	Alloc(n int) ([]byte, error)
	Free(slab []byte) error
}

// Heap is Go's own memory.
type Heap struct{}

const alignment = bulk.Align

func align(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// Alloc returns n zero bytes. It is an error if the machine has less memory, where that is known.
func (Heap) Alloc(n int) ([]byte, error) {
	if err := CheckMachine(n); err != nil {
		return nil, err
	}
	return bulk.Make(n), nil
}

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// CheckMachine reports an error if n is more bytes than the machine has. Go ends a program that allocates them.
func CheckMachine(n int) error {
	if n < 1<<30 {
		return nil
	}
	if has := machine.Memory(); n > has {
		return fmt.Errorf("%s of memory: the machine has %s", figures.Bytes(int64(n)), figures.Bytes(int64(has)))
	}
	return nil
}

// option is the option of package loader that sets the Allocator, for errors.
const option = "Memory"

// alloc calls an Allocator for n bytes, more than 0. The result may be longer.
func alloc(memory Allocator, n int) ([]byte, error) {
	b, err := memory.Alloc(n)
	if err != nil {
		return nil, err
	}
	switch address := uintptr(unsafe.Pointer(unsafe.SliceData(b))); {
	case len(b) < n:
		err = fmt.Errorf("%s: Alloc(%d) returned %d bytes", option, n, len(b))
	case address%alignment != 0:
		err = fmt.Errorf("%s: Alloc(%d) returned memory that is not aligned to %d bytes", option, n, alignment)
	default:
		return b, nil
	}
	return nil, errors.Join(err, memory.Free(b))
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}
