package slots

import (
	"fmt"
	"unsafe"
)

// A Column is one fixed-size field of a whole batch: rows one after the other. Making
// one of its cells costs one multiplication.
type Column struct {
	field *Field
	base  unsafe.Pointer
}

// NewColumn makes a column in the memory bytes, which must be aligned for the field's
// dtype. It panics if bytes is not a whole number of rows.
func NewColumn(f *Field, bytes []byte) Column {
	if len(bytes)%f.bytes != 0 {
		panic(fmt.Sprintf("dataset: column of field %q: %d bytes, want a multiple of %d", f.name, len(bytes), f.bytes))
	}
	return Column{f, unsafe.Pointer(unsafe.SliceData(bytes))}
}

// Cell is the cell of a row. It does not check that the row is in range.
func (c *Column) Cell(row int) Cell {
	return Cell{field: c.field, base: unsafe.Add(c.base, row*c.field.bytes)}
}

// A Buffer is the memory of one ragged row, aligned to 8 bytes. The zero value is
// ready to use and allocates its own memory.
type Buffer struct {
	bytes []byte
	from  Source
}

// A Source provides the memory of many rows.
type Source interface {
	// Grow makes a row n bytes long, which is more than its capacity, and keeps
	// its content.
	Grow(row []byte, n int) []byte
}

// NewBuffer makes a buffer whose memory comes from a source.
func NewBuffer(from Source) Buffer { return Buffer{from: from} }

// Drop makes the buffer forget its memory, because the source takes it back.
func (b *Buffer) Drop() { b.bytes = nil }

// Grow makes the buffer n bytes long and returns its bytes. It keeps the content up
// to the new length. It takes new memory only if n is more than the capacity.
func (b *Buffer) Grow(n int) []byte {
	if n <= cap(b.bytes) {
		b.bytes = b.bytes[:n]
		return b.bytes
	}
	if b.from != nil {
		b.bytes = b.from.Grow(b.bytes, n)
		return b.bytes
	}
	// A quarter more than requested, so that varying sizes soon need no allocation.
	words := make([]complex128, (n+n/4+15)/16)
	grown := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 16*len(words))
	copy(grown, b.bytes)
	b.bytes = grown[:n]
	return b.bytes
}

// Bytes is the buffer's content.
func (b *Buffer) Bytes() []byte { return b.bytes }
