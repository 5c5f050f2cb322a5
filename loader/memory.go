package loader

import "github.com/penstock-go/penstock/loader/internal/slab"

// An Allocator provides the memory of batches. [New] calls it for the slabs: a slab is the memory of one batch. Later
// the loader calls it for ragged fields, whose size is not known before, and for batches larger than any before.
// Several goroutines may call it at once.
type Allocator interface {
	// Alloc returns n bytes or more, at an address that is a multiple of 64. Their content may be anything. n is at
	// least 1.
	Alloc(n int) ([]byte, error)
	// Free takes back a slice that Alloc returned.
	Free(slab []byte) error
}

// Heap is the default Allocator: Go's own memory.
type Heap struct{}

// Alloc returns n zero bytes. It is an error if the machine has less memory, where that is known. Without this error Go
// would end the program.
func (Heap) Alloc(n int) ([]byte, error) { return slab.Heap{}.Alloc(n) }

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// Poison wraps an Allocator for tests. It fills memory with bytes 0xFF when it is allocated and when its batch is over.
// Then floating-point numbers are NaN, unsigned integers have their largest value, and signed integers are -1, as are
// the batch's indices and offsets.
//
//	l, err := loader.New(ds, loader.Memory(loader.Poison(loader.Heap{})))
//
// This shows two mistakes that otherwise often give right numbers by chance:
//
//   - a tensor or slice is used after its loop body, without [Batch.Keep] or
//     [Batch.Copy],
//   - a Reader leaves elements of its Slot unwritten.
//
// It costs the time of writing every batch once more.
func Poison(a Allocator) Allocator { return slab.Poison{Allocator: a} }
