package dataset

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/penstock-go/penstock/internal/dense"
)

// Element is every type that a field may hold.
type Element interface {
	bool | int | int8 | int16 | int32 | int64 |
		uint | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128
}

// A Slot is the place of one sample in a batch: a cell per field, in the order
// of the Spec, and what belongs to this draw of the sample. It is valid during
// one call of Place.
type Slot struct {
	cells []Cell
	draw  *Draw
}

// NewSlot makes a slot over cells. Wrapping datasets use it to hand their inner
// dataset some cells of their own beside some of the outer slot. Both slots
// share cells and draw. A nil draw is for reading outside a loader: its random
// numbers are those of [Draw]'s zero value.
func NewSlot(cells []Cell, draw *Draw) Slot {
	if draw == nil {
		draw = new(Draw)
	}
	return Slot{cells, draw}
}

// Len is the number of fields.
func (s Slot) Len() int { return len(s.cells) }

// Cell is the place of field f.
func (s Slot) Cell(f int) Cell { return s.cells[f] }

// Fields is the slot of the fields from up to, but not including, to.
func (s Slot) Fields(from, to int) Slot { return Slot{s.cells[from:to:to], s.draw} }

// Draw is what belongs to this draw of the sample: its random numbers and its clock.
func (s Slot) Draw() *Draw { return s.draw }

// Rand gives the draw's own random numbers. They depend on the loader's seed,
// the epoch and the draw's place in the sampler's global order, and on nothing
// else: not on the worker, the batch size or the number of ranks.
func (s Slot) Rand() *rand.Rand { return s.draw.Rand() }

// Stage says what the reader does from here on, until the next Stage or the
// end of Place: read, decode, … The time goes to that line of the loader's
// statistics, and a time-out names it. It costs about as much as time.Now.
func (s Slot) Stage(name string) { s.draw.Stage(name) }

// Row is the sample's row of field f, to be written: as many values as the
// field's shape has, or, in a ragged field, as the last [Grow] asked for. It
// panics if the field does not hold T.
func Row[T Element](s Slot, f int) []T {
	c := &s.cells[f]
	if c.is.dtype != reflect.TypeFor[T]() {
		panic(wrongType[T](s, f))
	}
	if c.ragged != nil {
		return dense.Values[T](c.ragged.bytes)
	}
	return unsafe.Slice((*T)(c.base), c.size/int(unsafe.Sizeof(*new(T))))
}

// Set writes the only value of field f, the usual way to place a label. It
// panics if the field does not hold T.
func Set[T Element](s Slot, f int, value T) { Row[T](s, f)[0] = value }

// Grow makes the sample's row of the ragged field f n elements long and returns
// its values, n times those of the field's shape, to be written. What the row
// held before is kept up to the new length; the rest is undefined. It panics
// if the field is not ragged or does not hold T.
func Grow[T Element](s Slot, f, n int) []T {
	c := &s.cells[f]
	if c.is.dtype != reflect.TypeFor[T]() {
		panic(wrongType[T](s, f))
	}
	if c.ragged == nil {
		panic(fmt.Sprintf("dataset: Grow of field %s, which is not ragged", nameOf(s, f)))
	}
	return dense.Values[T](c.ragged.Grow(n * c.size))
}

func wrongType[T Element](s Slot, f int) string {
	return fmt.Sprintf("dataset: field %s holds %v, not %v", nameOf(s, f), s.cells[f].is.dtype, reflect.TypeFor[T]())
}

// nameOf is the name of field f in quotes, or its number if it has none.
func nameOf(s Slot, f int) string {
	if name := s.cells[f].is.name; name != "" {
		return strconv.Quote(name)
	}
	return strconv.Itoa(f)
}

// A fieldKind is what a cell knows of its field, at the cost of a pointer.
type fieldKind struct {
	name  string // for errors
	dtype reflect.Type
}

func fieldKindOf(f Field) *fieldKind { return &fieldKind{f.Name, f.Dtype.Type} }

// A Cell is the place of one field of one sample.
type Cell struct {
	is     *fieldKind
	base   unsafe.Pointer
	size   int // bytes of the row, or of one element where ragged
	ragged *Buffer
}

// FixedCell is the cell of field f in row, which holds exactly [Field.Bytes]
// bytes, aligned for the field's kind.
func FixedCell(f Field, row []byte) Cell {
	if len(row) != f.Bytes() {
		panic(fmt.Sprintf("dataset: cell of field %v: %d bytes, want %d", f, len(row), f.Bytes()))
	}
	return Cell{is: fieldKindOf(f), base: unsafe.Pointer(unsafe.SliceData(row)), size: len(row)}
}

// RaggedCell is the cell of the ragged field f in buf.
func RaggedCell(f Field, buf *Buffer) Cell {
	if is := buf.is; is == nil || is.name != f.Name || is.dtype != f.Dtype.Type {
		buf.is = fieldKindOf(f)
	}
	return Cell{is: buf.is, size: f.Bytes(), ragged: buf}
}

// Bytes is the row as it lies in memory, in the machine's byte order. A file
// that holds just that is read straight into it.
func (c Cell) Bytes() []byte {
	if c.ragged != nil {
		return c.ragged.bytes
	}
	return unsafe.Slice((*byte)(c.base), c.size)
}

// Grow makes a ragged cell n bytes long and returns them. It panics if the
// cell is not ragged.
func (c Cell) Grow(n int) []byte { return c.ragged.Grow(n) }

// Ragged reports whether the cell's length may vary.
func (c Cell) Ragged() bool { return c.ragged != nil }

// A Buffer is the reused memory of one ragged row, aligned to 8 bytes. Its zero
// value is ready to use.
type Buffer struct {
	bytes []byte
	is    *fieldKind // of the cell that it was last used in, which the next one shares
}

// Grow makes the buffer n bytes long, keeping its beginning, and returns it. It
// allocates only when n is more than ever before.
func (b *Buffer) Grow(n int) []byte {
	if n <= cap(b.bytes) {
		b.bytes = b.bytes[:n]
		return b.bytes
	}
	// A quarter more than asked for lets sizes that vary settle quickly.
	words := make([]complex128, (n+n/4+15)/16)
	grown := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 16*len(words))
	copy(grown, b.bytes)
	b.bytes = grown[:n]
	return b.bytes
}

// Bytes is the buffer's content.
func (b *Buffer) Bytes() []byte { return b.bytes }
