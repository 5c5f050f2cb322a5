package dataset

import (
	"fmt"
	"unsafe"
)

// A Column is one fixed-size field of a whole batch: rows one after the other.
// It hands out their cells at the cost of a multiplication.
type Column struct {
	is   *fieldKind
	base unsafe.Pointer
	size int // bytes per row
}

// NewColumn lays field f's rows over bytes, which are a multiple of
// [Field.Bytes] long and aligned for the field's kind.
func NewColumn(f Field, bytes []byte) Column {
	if f.Ragged || len(bytes)%f.Bytes() != 0 {
		panic(fmt.Sprintf("dataset: column of field %v over %d bytes", f, len(bytes)))
	}
	return Column{fieldKindOf(f), unsafe.Pointer(unsafe.SliceData(bytes)), f.Bytes()}
}

// Cell is the cell of a row, which the caller has checked to be in range.
func (c *Column) Cell(row int) Cell {
	return Cell{is: c.is, base: unsafe.Add(c.base, row*c.size), size: c.size}
}
