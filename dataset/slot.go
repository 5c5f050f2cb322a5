package dataset

import (
	"math/rand/v2"
	"unsafe"

	"github.com/penstock-go/penstock/internal/slots"
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
type Slot slots.Slot

// NewSlot makes a slot with memory of its own, for reading samples without a
// loader. Its random numbers are those of seed 0, epoch 0 and draw 0.
func NewSlot(fields ...Field) Slot {
	cells := make([]slots.Cell, len(fields))
	for k, f := range fields {
		cells[k] = slots.Cell(NewCell(f))
	}
	return Slot(slots.New(cells, new(slots.Draw)))
}

// Len is the number of fields.
func (s Slot) Len() int { return len(slots.Slot(s).Cells()) }

// Cell is the place of field f.
func (s Slot) Cell(f int) Cell { return Cell(slots.Slot(s).Cell(f)) }

// Fields is the slot of the fields from up to, but not including, to.
func (s Slot) Fields(from, to int) Slot { return Slot(slots.Slot(s).Fields(from, to)) }

// With is the slot of the same draw with other cells, which it shares. A dataset
// that wraps another one places that one's samples in it: some of the cells are
// those of the slot that is to be filled, others, made by [NewCell], its own.
func (s Slot) With(cells []Cell) Slot {
	same := unsafe.Slice((*slots.Cell)(unsafe.SliceData(cells)), len(cells)) // one type under two names
	return Slot(slots.New(same, slots.Slot(s).Draw()))
}

// Rand gives the draw's own random numbers. They depend on the loader's seed,
// the epoch and the draw's place in the sampler's global order, and on nothing
// else: not on the worker, the batch size or the number of ranks.
func (s Slot) Rand() *rand.Rand { return slots.Slot(s).Draw().Rand() }

// Stage says what the reader does from here on, until the next Stage or the
// end of Place: [StageRead], [StageDecode], or a name of your own. The time goes
// to that line of the loader's statistics, and a time-out names it. It costs
// about as much as time.Now.
func (s Slot) Stage(name string) { slots.Slot(s).Draw().Stage(name) }

// The stages that this module's datasets and transforms report.
const (
	StageRead     = "read"     // bytes from storage
	StageDecode   = "decode"   // from the file's format to pixels or values
	StageResample = "resample" // geometry: resize, crop, flip
	StageAugment  = "augment"  // transforms that edit pixels
	StageStore    = "store"    // conversion and normalisation into the slot
)

// Row is the sample's row of field f, to be written: as many values as the
// field's shape has, or, in a ragged field, as the last [Grow] asked for. It
// panics if the field does not hold T.
func Row[T Element](s Slot, f int) []T { return slots.Row[T](slots.Slot(s), f) }

// Set writes the only value of field f, the usual way to place a label. It
// panics if the field does not hold T.
func Set[T Element](s Slot, f int, value T) { Row[T](s, f)[0] = value }

// Grow makes the sample's row of the ragged field f n elements long and returns
// its values, n times those of the field's shape, to be written. What the row
// held before is kept up to the new length; the rest is undefined. It panics
// if the field is not ragged or does not hold T.
func Grow[T Element](s Slot, f, n int) []T { return slots.Grow[T](slots.Slot(s), f, n) }

// A Cell is the place of one field of one sample.
type Cell slots.Cell

// NewCell makes a cell for field f with memory of its own.
func NewCell(f Field) Cell {
	field, memory := slots.NewField(f.Name, f.Dtype, f.Bytes()), new(slots.Buffer)
	if f.Ragged {
		return Cell(slots.Ragged(field, memory))
	}
	return Cell(slots.Fixed(field, memory.Grow(f.Bytes())))
}

// Bytes is the row as it lies in memory, in the machine's byte order. A file
// that holds just that is read straight into it.
func (c Cell) Bytes() []byte { return slots.Cell(c).Bytes() }

// Grow makes a ragged cell n bytes long and returns them. It panics if the
// cell is not ragged.
func (c Cell) Grow(n int) []byte { return slots.Cell(c).Grow(n) }

// Ragged reports whether the cell's length may vary.
func (c Cell) Ragged() bool { return slots.Cell(c).IsRagged() }
