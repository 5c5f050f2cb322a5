// Package slots implements the Slot of package dataset: the cells of a sample,
// their memory, and the draw with its random numbers and its clock. The loader
// makes slots. Authors of datasets see dataset.Slot and dataset.Cell, which are
// these types with methods of their own.
package slots

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/penstock-go/penstock/internal/dense"
)

// A Slot is the place of one sample in a batch: a cell per field, and its draw.
type Slot struct {
	cells []Cell
	draw  *Draw
}

// New makes a slot of the given cells, without copying them.
func New(cells []Cell, draw *Draw) Slot { return Slot{cells, draw} }

// Cells are the slot's cells, not a copy of them.
func (s Slot) Cells() []Cell { return s.cells }

// Cell is the cell of field f.
func (s Slot) Cell(f int) Cell { return s.cells[f] }

// Fields is the slot of the fields from up to, but not including, to.
func (s Slot) Fields(from, to int) Slot { return Slot{s.cells[from:to:to], s.draw} }

// Draw is the slot's draw.
func (s Slot) Draw() *Draw { return s.draw }

// Row is the row of field f. It panics if T is not the field's dtype.
func Row[T dense.Element](s Slot, f int) []T {
	if uint(f) >= uint(len(s.cells)) {
		panic(noField(s, f))
	}
	c := &s.cells[f]
	if c.field.dtype != reflect.TypeFor[T]() {
		panic(wrongType[T](s, f))
	}
	if c.ragged != nil {
		return dense.Values[T](c.ragged.bytes)
	}
	return unsafe.Slice((*T)(c.base), c.field.bytes/int(unsafe.Sizeof(*new(T))))
}

// Grow makes the row of the ragged field f n elements long. It panics if the field is
// not ragged or T is not its dtype.
func Grow[T dense.Element](s Slot, f, n int) []T {
	if uint(f) >= uint(len(s.cells)) {
		panic(noField(s, f))
	}
	c := &s.cells[f]
	if c.field.dtype != reflect.TypeFor[T]() {
		panic(wrongType[T](s, f))
	}
	if c.ragged == nil {
		panic(fmt.Sprintf("dataset: Grow of field %s, which is not ragged", nameOf(s, f)))
	}
	return dense.Values[T](c.ragged.Grow(n * c.field.bytes))
}

// noField is the message of an index that no cell has.
func noField(s Slot, f int) string {
	if len(s.cells) == 0 {
		return fmt.Sprintf("dataset: field %d: the slot has no fields", f)
	}
	return fmt.Sprintf("dataset: field %d: want an index from 0 to %d", f, len(s.cells)-1)
}

func wrongType[T dense.Element](s Slot, f int) string {
	return fmt.Sprintf("dataset: field %s holds %v, not %v", nameOf(s, f), s.cells[f].field.dtype, reflect.TypeFor[T]())
}

// NotScalar is the text of a panic if a row that should have one value has another number.
func NotScalar(s Slot, f, values int) string {
	return fmt.Sprintf("dataset: Set of field %s, which has %d values, not 1: want Row or Grow", nameOf(s, f), values)
}

// nameOf is the name of field f in quotes, or its index if it has none.
func nameOf(s Slot, f int) string {
	if name := s.cells[f].field.name; name != "" {
		return strconv.Quote(name)
	}
	return strconv.Itoa(f)
}

// A Field describes a field for all its cells, which have a pointer to it.
type Field struct {
	name  string // for errors
	dtype reflect.Type
	bytes int // of a row, or of one element if the field is ragged
}

// NewField makes a field. bytes is the size of a row, or of an element if the field is
// ragged.
func NewField(name string, dtype reflect.Type, bytes int) *Field {
	return &Field{name, dtype, bytes}
}

// A Cell is the place of one field of one sample.
type Cell struct {
	field  *Field
	base   unsafe.Pointer
	ragged *Buffer
}

// Fixed is the cell of the fixed-size field f in the memory row, which must be aligned
// for the field's dtype. It panics if row does not have the size of a row of f.
func Fixed(f *Field, row []byte) Cell {
	if len(row) != f.bytes {
		panic(fmt.Sprintf("dataset: cell of field %q: %d bytes, want %d", f.name, len(row), f.bytes))
	}
	return Cell{field: f, base: unsafe.Pointer(unsafe.SliceData(row))}
}

// Ragged is the cell of the ragged field f in buf.
func Ragged(f *Field, buf *Buffer) Cell { return Cell{field: f, ragged: buf} }

// Bytes is the memory of the cell.
func (c Cell) Bytes() []byte {
	if c.ragged != nil {
		return c.ragged.bytes
	}
	return unsafe.Slice((*byte)(c.base), c.field.bytes)
}

// Grow makes a ragged cell n bytes long and returns its memory. It panics if the cell
// is not ragged.
func (c Cell) Grow(n int) []byte { return c.ragged.Grow(n) }

// IsRagged reports whether the cell's length may vary.
func (c Cell) IsRagged() bool { return c.ragged != nil }

// Dtype is the type of the field's values.
func (c Cell) Dtype() reflect.Type { return c.field.dtype }
