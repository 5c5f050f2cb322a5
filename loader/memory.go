package loader

import "github.com/penstock-go/penstock/loader/internal/slab"

// An Allocator provides the memory of batches. [New] calls it for the slabs: a slab is the memory of one batch. Later
// the loader calls it for ragged fields, whose size is not known before, for batches larger than any before, and for the
// slabs that [Auto] adds, while the loop waits for it. Several goroutines may call it at once.
type Allocator interface {
	// Alloc returns n bytes or more, at an address that is a multiple of 64. Their content may be anything. n is at
	// least 1.
	Alloc(n int) ([]byte, error)
	// Free takes back a slice that Alloc returned.
	Free(slab []byte) error
}

// Heap is the default Allocator: Go's own memory.
type Heap struct{}

// Alloc returns n zero bytes. It is an error if the machine has less memory, where that is known.
func (Heap) Alloc(n int) ([]byte, error) { return slab.Heap{}.Alloc(n) }

// Free leaves the memory to the garbage collector.
func (Heap) Free([]byte) error { return nil }

// Memory sets the Allocator of the batches' memory. The default is [Heap].
func Memory(a Allocator) Option { return Option{func(c *config) { c.memory = a }} }

// Poison fills memory, in tests, with bytes 0xFF when it is allocated and when its batch is over: floating-point
// numbers are NaN then, and signed integers, the batch's indices and its offsets -1. So it shows that a tensor is used
// after its loop body, without [Batch.Keep] or [Batch.Copy], and that a Reader leaves elements of its Slot unwritten.
func Poison(on bool) Option { return Option{func(c *config) { c.poison = on }} }

// Budget sets how many bytes the batches may take: all slabs and ragged fields, as [Stats].SlabBytes counts them. The
// default is 2 GiB, or three slabs if these are larger. What Readers allocate does not count. Ragged fields count with
// the size of the largest batch so far, so a larger one may exceed the budget by the difference. It is an error if the
// slabs of [InFlight], or a single slab, take more.
func Budget(bytes int) Option {
	return Option{func(c *config) { c.budget = bytes; c.set.budget = true }}
}
