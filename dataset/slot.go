package dataset

import (
	"math/rand/v2"
	"unsafe"

	"github.com/penstock-go/penstock/internal/slots"
)

// A Slot is the memory of one sample in a batch. It has a cell per field, in the
// order of the Spec, and the random numbers of the sample. It is valid during
// one call of Place.
type Slot slots.Slot

// NewSlot makes a slot with memory of its own, for reading samples without a
// loader. Its random numbers are those of seed 0, epoch 0 and place 0 of the
// order.
func NewSlot(fields ...Field) Slot {
	cells := make([]slots.Cell, len(fields))
	for k, f := range fields {
		cells[k] = slots.Cell(NewCell(f))
	}
	return Slot(slots.New(cells, new(slots.Draw)))
}

// Len is the number of fields.
func (s Slot) Len() int { return len(slots.Slot(s).Cells()) }

// Cell is the cell of the field with index f.
func (s Slot) Cell(f int) Cell { return Cell(slots.Slot(s).Cell(f)) }

// Fields is a slot of the fields whose indices are at least from and less than to.
// It shares their cells.
func (s Slot) Fields(from, to int) Slot { return Slot(slots.Slot(s).Fields(from, to)) }

// With is a slot with other cells and the same random numbers. It uses the slice
// cells itself, not a copy.
//
// A dataset that wraps another one lets it place samples in such a slot. Some
// cells are those of the slot to be filled. Others are scratch memory made by
// [NewCell].
func (s Slot) With(cells []Cell) Slot {
	same := unsafe.Slice((*slots.Cell)(unsafe.SliceData(cells)), len(cells)) // one type under two names
	return Slot(slots.New(same, slots.Slot(s).Draw()))
}

// Rand gives the random numbers of the sample. They depend on the loader's
// seed, the epoch and the sample's place in the sampler's global order, and on
// nothing else: not on the worker, the batch size or the number of ranks.
func (s Slot) Rand() *rand.Rand { return slots.Slot(s).Draw().Rand() }

// Stage says what the reader does from now on, until the next Stage or the end
// of Place: [StageRead], [StageDecode], or a name of your own. The loader's
// statistics count the time under that name, and a timeout error names it. Name
// StageRead what waits for storage or a network: with loader.Auto, the number of
// workers depends on it. A call costs about as much as time.Now.
func (s Slot) Stage(name string) { slots.Slot(s).Draw().Stage(name) }

// The stages that this module's datasets and transforms report to [Slot.Stage].
const (
	StageRead     = "read"     // bytes from storage
	StageDecode   = "decode"   // from the file's format to pixels or values
	StageResample = "resample" // geometry: resize, crop, flip
	StageAugment  = "augment"  // transforms that edit pixels
	StageStore    = "store"    // conversion and normalisation into the slot
)

// Row is the memory of the sample's field f. Write the values into it. It has
// as many values as the field's shape or, in a ragged field, as the last [Grow]
// made room for. It panics if T is not the field's dtype.
func Row[T Element](s Slot, f int) []T { return slots.Row[T](slots.Slot(s), f) }

// Set writes the value of a scalar field f, such as a label. It panics if T is
// not the field's dtype, or if the field has not exactly one value.
func Set[T Element](s Slot, f int, value T) {
	row := Row[T](s, f)
	if len(row) != 1 {
		panic(slots.NotScalar(slots.Slot(s), f, len(row)))
	}
	row[0] = value
}

// Grow makes the sample's ragged field f n elements long and returns its values,
// to be written: n times [Field.Elements]. What the field held before is kept up
// to the new length; the rest is undefined. It panics if the field is not ragged
// or T is not its dtype.
func Grow[T Element](s Slot, f, n int) []T { return slots.Grow[T](slots.Slot(s), f, n) }

// A Cell is the memory of one field of one sample.
type Cell slots.Cell

// NewCell makes a cell for field f with memory of its own.
func NewCell(f Field) Cell {
	field, memory := slots.NewField(f.Name, f.Dtype.Type(), f.Bytes()), new(slots.Buffer)
	if f.Ragged {
		return Cell(slots.Ragged(field, memory))
	}
	return Cell(slots.Fixed(field, memory.Grow(f.Bytes())))
}

// Bytes is the cell's memory, in the machine's byte order. A file with the same
// layout can be read straight into it.
func (c Cell) Bytes() []byte { return slots.Cell(c).Bytes() }

// Grow makes a ragged cell n bytes long and returns its memory. It panics if
// the cell is not ragged.
func (c Cell) Grow(n int) []byte { return slots.Cell(c).Grow(n) }

// Ragged reports whether the cell's length may vary.
func (c Cell) Ragged() bool { return slots.Cell(c).IsRagged() }
