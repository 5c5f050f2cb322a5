package dataset

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/slots"
)

const (
	lengthBytes = 8        // of a ragged field's length before a sample
	minBlock    = 64 << 10 // bytes
	maxBlock    = 16 << 20 // bytes
	offsetBits  = 40       // of a place; the rest is the block's number plus one
)

// cacheMemory hands out pieces of a few large blocks, which the garbage
// collector need not scan. A new block is as large as all earlier ones
// together, but at least minBlock and at most maxBlock. A piece larger than an
// eighth of that gets a block of its own.
type cacheMemory struct {
	limit  int64                    // bytes of all blocks together
	blocks atomic.Pointer[[][]byte] // appended to with mu held, read without it

	mu      sync.Mutex
	bytes   int64 // of all blocks
	samples int64
	current int // number of the block that pieces are taken from
	used    int // bytes of it
}

// take finds n bytes. It reports the place, or false if there is no room.
func (m *cacheMemory) take(n int) (place uint64, piece []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var blocks [][]byte
	if b := m.blocks.Load(); b != nil {
		blocks = *b
	}
	at, offset := m.current, m.used
	if at == len(blocks) || n > len(blocks[at])-offset {
		size := int(min(max(m.bytes, minBlock), maxBlock))
		own := n > size/8
		if own {
			size = n
		} else {
			size -= size % n // no bytes are left over if all samples have one size
		}
		if rest := m.limit - m.bytes; int64(size) > rest {
			if int64(n) > rest {
				return 0, nil, false
			}
			size = int(rest - rest%int64(n))
		}
		if int64(size) >= 1<<offsetBits {
			return 0, nil, false
		}
		at, offset = len(blocks), 0
		blocks = append(blocks, make([]byte, size))
		m.blocks.Store(&blocks)
		m.bytes += int64(size)
		if !own {
			m.current = at
		}
	}
	if at == m.current {
		m.used = offset + n
	}
	m.samples++
	return uint64(at+1)<<offsetBits | uint64(offset), blocks[at][offset : offset+n : offset+n], true
}

// at returns the memory that begins at place.
func (m *cacheMemory) at(place uint64) []byte {
	return (*m.blocks.Load())[place>>offsetBits-1][place&(1<<offsetBits-1):]
}

func (m *cacheMemory) taken() (samples, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples, m.bytes
}

// keep copies a placed sample into memory: the lengths of its ragged fields in
// bytes, then the fields. It returns the place, or passed if there is no room.
func (c *Cache) keep(s Slot) uint64 {
	size := c.header
	for _, cell := range slots.Slot(s).Cells() {
		size += len(cell.Bytes())
	}
	place, piece, ok := c.memory.take(size)
	if !ok {
		return passed
	}
	rest := piece[c.header:]
	for _, cell := range slots.Slot(s).Cells() {
		row := cell.Bytes()
		if cell.IsRagged() {
			binary.NativeEndian.PutUint64(piece, uint64(len(row)))
			piece = piece[lengthBytes:]
		}
		rest = rest[copy(rest, row):]
	}
	return place
}

// serve copies a sample from memory.
func (c *Cache) serve(place uint64, dst Slot) {
	lengths := c.memory.at(place)
	rest := lengths[c.header:]
	for _, cell := range slots.Slot(dst).Cells() {
		row := cell.Bytes()
		if cell.IsRagged() {
			row = cell.Grow(int(binary.NativeEndian.Uint64(lengths)))
			lengths = lengths[lengthBytes:]
		}
		rest = rest[copy(row, rest):]
	}
}
