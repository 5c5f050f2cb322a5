package slab

import (
	"slices"
	"sync"
	"unsafe"
)

// An arena holds a batch's ragged rows until they are joined. A row is a piece of one of a few chunks. All chunks go
// back to their stock at once. An arena is a [slots.Source].
type arena struct {
	stock *stock

	mu     sync.Mutex
	chunks [][]byte // pieces are cut from the last one
	used   int      // bytes of the last chunk that are cut
	total  int      // bytes of all chunks
}

// The length of every piece is a multiple of piece, in bytes.
const piece = 16

// Grow makes a row n bytes long and keeps its beginning. The row that was cut last grows in place. Grow panics if there
// is not enough memory.
func (a *arena) Grow(row []byte, n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.last(row); ok && at+n <= len(a.chunks[len(a.chunks)-1]) {
		return a.cut(at, n)[:n]
	}
	size := n
	if len(row) > 0 {
		size = max(n, 2*len(row)) // a row that has grown once often grows again
	}
	grown := a.room(size)[:n]
	copy(grown, row)
	return grown
}

// last reports whether the row is the piece that was cut last, and where it begins in the last chunk.
func (a *arena) last(row []byte) (at int, ok bool) {
	if cap(row) == 0 || len(a.chunks) == 0 {
		return 0, false
	}
	chunk := a.chunks[len(a.chunks)-1]
	at = a.used - cap(row)
	return at, at >= 0 && unsafe.SliceData(row) == &chunk[at]
}

// cut cuts n bytes of the last chunk, from the offset at on.
func (a *arena) cut(at, n int) []byte {
	chunk := a.chunks[len(a.chunks)-1]
	a.used = min((at+n+piece-1)/piece*piece, len(chunk))
	return chunk[at:a.used:a.used]
}

// room cuts a piece of at least n bytes.
func (a *arena) room(n int) []byte {
	if k := len(a.chunks); k > 0 && a.used+n <= len(a.chunks[k-1]) {
		return a.cut(a.used, n)
	}
	size := a.next()
	chunk, err := a.stock.get(max(n, size))
	if err != nil {
		panic(err)
	}
	a.total += len(chunk)
	if k := len(a.chunks); k > 0 && n > size/2 {
		// A large row has a chunk of its own. The next rows use the last chunk.
		a.chunks = slices.Insert(a.chunks, k-1, chunk)
		return chunk
	}
	a.chunks = append(a.chunks, chunk)
	return a.cut(0, n)
}

// next is the size of the next chunk. The first chunk is enough for most batches.
func (a *arena) next() int {
	size := a.stock.typical()
	if len(a.chunks) > 0 {
		size = max(size, a.total) / 2
	}
	return max(size, 4096)
}

// reset gives all chunks back.
func (a *arena) reset() {
	for _, chunk := range a.chunks {
		a.stock.put(chunk) // into Go's memory, where Free returns no error
	}
	clear(a.chunks)
	a.chunks, a.used, a.total = a.chunks[:0], 0, 0
}
