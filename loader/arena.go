package loader

import (
	"slices"
	"sync"
	"unsafe"
)

// An arena is the memory of a batch's ragged rows until they are joined: pieces of
// a few chunks, which go back to their stock all at once. It is a [slots.Source].
type arena struct {
	stock *stock

	mu     sync.Mutex
	chunks [][]byte // pieces are cut from the last one
	used   int      // of the last one
	total  int      // bytes in chunks
}

// piece is what the length of pieces is a multiple of.
const piece = 16

// Grow makes a row n bytes long and keeps its beginning. A row that is the last
// one cut grows where it is. It panics if there is not so much memory.
func (a *arena) Grow(row []byte, n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.last(row); ok && at+n <= len(a.chunks[len(a.chunks)-1]) {
		return a.cut(at, n)[:n]
	}
	size := n
	if len(row) > 0 {
		size = max(n, 2*len(row)) // who grows once grows again
	}
	grown := a.room(size)[:n]
	copy(grown, row)
	return grown
}

// last reports whether the row is the last piece, and where it begins.
func (a *arena) last(row []byte) (at int, ok bool) {
	if cap(row) == 0 || len(a.chunks) == 0 {
		return 0, false
	}
	chunk := a.chunks[len(a.chunks)-1]
	at = a.used - cap(row)
	return at, at >= 0 && unsafe.SliceData(row) == &chunk[at]
}

// cut makes the last piece, which begins at a place in the last chunk, n bytes long.
func (a *arena) cut(at, n int) []byte {
	chunk := a.chunks[len(a.chunks)-1]
	a.used = min((at+n+piece-1)/piece*piece, len(chunk))
	return chunk[at:a.used:a.used]
}

// room cuts a piece of n bytes at least.
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
		// A large row has a chunk of its own, and the next ones go on in the last.
		a.chunks = slices.Insert(a.chunks, k-1, chunk)
		return chunk
	}
	a.chunks = append(a.chunks, chunk)
	return a.cut(0, n)
}

// next is the size of the next chunk: the first one serves most batches.
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
		a.stock.put(chunk) // to the heap, which always takes it
	}
	clear(a.chunks)
	a.chunks, a.used, a.total = a.chunks[:0], 0, 0
}
