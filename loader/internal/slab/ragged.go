package slab

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A ragged column is one ragged field of a batch.
type ragged struct {
	rows   []slots.Buffer // in the slab's arena, until they are joined
	filled bool           // whether values and ends were written as a whole, and not row by row
	block  []byte         // memory for values; kept from batch to batch
	values []byte         // all rows joined, at the beginning of block
	ends   []int          // offsets in elements: row r is [ends[r], ends[r+1])
}

// reserve makes room for that many rows. Their memory comes from a source.
func (c *ragged) reserve(rows int, from slots.Source) {
	for len(c.rows) < rows {
		c.rows = append(c.rows, slots.NewBuffer(from))
	}
	c.ends = make([]int, 1, rows+1)
}

// free gives back the memory that is kept from batch to batch.
func (c *ragged) free(p *Pool) error {
	block := c.block
	c.block = nil
	return p.dispose(p.Memory, block)
}

// grow makes the block at least n bytes long. Its content is lost.
func (c *ragged) grow(p *Pool, n int) error {
	if n <= len(c.block) {
		return nil
	}
	if err := c.free(p); err != nil {
		return err
	}
	b, err := p.alloc(p.Memory, align(n+n/8)) // a little more, so that it fits later batches too
	c.block = b
	return err
}

// Empty makes the row's ragged fields empty.
func (s *Slab) Empty(row int) {
	for i, f := range s.pool.Spec {
		if f.Ragged {
			s.ragged[i].rows[row].Grow(0)
		}
	}
}

// CheckRow reports an error if a ragged row ends inside an element.
func (s *Slab) CheckRow(row int) error {
	for i := range s.ragged {
		f := &s.pool.Spec[i]
		if !f.Ragged {
			continue
		}
		if n := len(s.ragged[i].rows[row].Bytes()); n%f.Bytes() != 0 {
			return fmt.Errorf("field %v has %d bytes, want a multiple of %d", f, n, f.Bytes())
		}
	}
	return nil
}

// Fill makes room for a ragged field as a whole: n bytes of values, and the rows+1 offsets in elements, both of which
// the caller writes.
func (s *Slab) Fill(column, rows, n int) (values []byte, ends []int, err error) {
	c := &s.ragged[column]
	if err := c.grow(s.pool, n); err != nil {
		return nil, nil, fmt.Errorf("%d bytes of field %q: %w", n, s.pool.Spec[column].Name, err)
	}
	c.filled = true
	if cap(c.ends) < rows+1 {
		c.ends = make([]int, rows+1)
	}
	c.values, c.ends = c.block[:n], c.ends[:rows+1]
	return c.values, c.ends, nil
}

// Ragged is the data of a ragged field: all rows joined, and offsets in elements.
func (s *Slab) Ragged(column int) (values []byte, ends []int) {
	return s.ragged[column].values, s.ragged[column].ends
}

// Pack joins the first rows of every ragged field and gives back the memory of the single rows.
func (s *Slab) Pack(rows int) error {
	if !s.pool.ragged {
		return nil
	}
	joined, used := 0, s.arena.total
	for i, f := range s.pool.Spec {
		if c := &s.ragged[i]; f.Ragged {
			if err := c.pack(f, rows, s.pool); err != nil {
				return err
			}
			joined += len(c.values)
			used += len(c.block)
		}
	}
	s.pool.notes(joined, used)
	s.arena.reset(s.pool.enough())
	return nil
}

// pack joins the first rows of the field.
func (c *ragged) pack(f dataset.Field, rows int, p *Pool) error {
	if c.filled {
		return nil
	}
	total := 0
	for r := range rows {
		total += len(c.rows[r].Bytes())
	}
	if err := c.grow(p, total); err != nil {
		return fmt.Errorf("%d bytes of field %q: %w", total, f.Name, err)
	}
	c.values = c.block[:0]
	c.ends = append(c.ends[:0], 0)
	for r := range rows {
		c.values = append(c.values, c.rows[r].Bytes()...)
		c.ends = append(c.ends, len(c.values)/f.Bytes())
	}
	for r := range c.rows {
		c.rows[r].Drop()
	}
	return nil
}

// An arena holds a batch's ragged rows until they are joined. A row is a piece of one of a few chunks, in Go's memory. If
// one was enough for a batch, it is kept for the next one. An arena is a [slots.Source].
type arena struct {
	pool *Pool

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
	chunk, err := a.pool.alloc(Heap{}, align(max(n, size)))
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
	size := a.pool.typical()
	if len(a.chunks) > 0 {
		size = max(size, a.total) / 2
	}
	return max(size, 4096)
}

// reset forgets all rows. One chunk of at most that many bytes is kept.
func (a *arena) reset(most int) {
	a.used = 0
	if len(a.chunks) <= 1 && a.total <= most {
		return
	}
	a.pool.bytes.Add(-int64(a.total))
	clear(a.chunks)
	a.chunks, a.total = a.chunks[:0], 0
}
