// Package budget bounds what a parser takes for bytes that it cannot trust: memory, work and depth,
// in proportion to their number. Every parser of files and answers carries one [Budget] from its
// first byte to its last, and charges it before it allocates, repeats or descends.
//
// A budget starts no goroutine and has no mutex: it belongs to the goroutine that parses.
package budget

import (
	"errors"
	"fmt"
	"math"
)

const (
	// Base is what any input may take, however short: bytes of memory, and steps.
	Base = 1 << 20
	// Memory is how many bytes of memory a byte of input may take.
	Memory = 16
	// Work is how many steps a byte of input may take. A step is about ten nanoseconds, such as a
	// value that is decoded, so that a megabyte takes less than a second.
	Work = 64
	// Depth is how deep values may be nested.
	Depth = 64
)

// ErrExceeded says that an input takes more than its size allows. All errors of a budget wrap it.
var ErrExceeded = errors.New("damaged or hostile")

// A Budget is what the parser of one input may still take. The zero value is the budget of an
// empty input.
type Budget struct {
	input  int64 // bytes
	memory int64 // granted beside those of the input, less those taken
	work   int64 // likewise
	depth  int   // levels that are open
}

// For is the budget of an input of that many bytes.
func For(input int64) Budget { return Budget{input: max(input, 0)} }

// Read adds n bytes to the input. It is for an input whose size is only a promise until it is read.
func (b *Budget) Read(n int64) { b.input = plus(b.input, max(n, 0)) }

// Grant allows bytes of memory and steps of work beside those of the input's size: what a
// documented limit allows, such as the pixels of an image.
func (b *Budget) Grant(memory, work int64) {
	b.memory = plus(b.memory, max(memory, 0))
	b.work = plus(b.work, max(work, 0))
}

// Memory takes n bytes of memory. They need not be allocated at once. Take them before they are
// allocated.
func (b *Budget) Memory(n int64) error {
	if n < 0 || n > left(b.memory, b.input, Memory) {
		return fmt.Errorf("%w: more memory than %d bytes of input may take", ErrExceeded, b.input)
	}
	b.memory -= n
	return nil
}

// Work takes n steps.
func (b *Budget) Work(n int64) error {
	if n < 0 || n > left(b.work, b.input, Work) {
		return fmt.Errorf("%w: more work than %d bytes of input may take", ErrExceeded, b.input)
	}
	b.work -= n
	return nil
}

// Enter opens a level of nested values, which Leave closes.
func (b *Budget) Enter() error {
	if b.depth >= Depth {
		return fmt.Errorf("%w: values nested more than %d levels deep", ErrExceeded, Depth)
	}
	b.depth++
	return nil
}

// Leave closes the level that was opened last.
func (b *Budget) Leave() { b.depth-- }

// left is what remains: what was granted less what was taken, and the input's share.
func left(granted, input, share int64) int64 {
	if input > (math.MaxInt64-Base)/share {
		return math.MaxInt64 // of an input that nobody has
	}
	return plus(granted, Base+share*input)
}

// plus is a + b for a b of at least 0, at most the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
