// Package whole is how a loader takes batches as a whole, from a service that has
// assembled them, instead of sample by sample.
package whole

import "context"

// A Reader is a [dataset.Reader] that fills whole batches. The loader does not call its
// Place. An error ends the loop in the place of the batch.
type Reader interface {
	PlaceWhole(ctx context.Context, b Batch) error
}

// A Batch is the memory of one batch, to be filled.
type Batch interface {
	// Epoch, Draw and Number say which batch it is: Number counts from the place Draw of
	// the epoch's global order. Draw is 0 if that place is a multiple of the draws of a batch.
	Epoch() int
	Draw() int
	Number() int

	// Reserve makes room for that many samples and returns the slice of their indices. It
	// may be called again: then the batch is empty again.
	Reserve(rows int) (indices []int, err error)
	// Fixed is the memory of a field of fixed size, in the rows that Reserve has made room
	// for.
	Fixed(field int) []byte
	// Ragged makes room for n bytes of a ragged field. The caller writes the values, and
	// the len(indices)+1 offsets in elements, which ascend from 0.
	Ragged(field, n int) (values []byte, offsets []int, err error)
	// Dropped says how many samples of the batch could not be placed where it was
	// assembled. The default is 0.
	Dropped(samples int)
}
