package loader

import (
	"errors"
	"math"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A reluctant allocator refuses to free a block once.
type reluctant struct {
	Heap
	refused bool
}

func (r *reluctant) Free([]byte) error {
	if !r.refused {
		r.refused = true
		return errors.New("busy")
	}
	return nil
}

// TestASlabIsWholeAgainAfterAnErrorOfFree: its cells lie in the memory that the batch reads.
func TestASlabIsWholeAgainAfterAnErrorOfFree(t *testing.T) {
	from := new(stocks)
	from.values.memory = &reluctant{}
	s, err := newSlab(dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, 8, from)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.reserve(16); err == nil {
		t.Fatal("the error of Free is lost")
	}
	if err := s.reserve(8); err != nil {
		t.Fatal(err)
	}
	cells := make([]slots.Cell, 1)
	s.cells(7, cells)
	cells[0].Bytes()[0] = 1
	if got := s.column(0, 8)[7*8]; got != 1 {
		t.Errorf("the batch reads %d, want what was placed, 1", got)
	}
}

// TestATypicalBatchMayBeLargerThanTwoGiB where an int can tell it.
func TestATypicalBatchMayBeLargerThanTwoGiB(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int has 32 bits")
	}
	var s stock
	size := math.MaxInt32
	size = 4*size + 4
	s.note(size)
	if got, want := s.typical(), size/8*9; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// unfreeing panics when it should free memory.
type unfreeing struct{ Heap }

func (unfreeing) Free([]byte) error { panic("broken") }

// TestMemoryWhoseFreePanicsCountsNoLonger in the budget, as if Free had returned an error.
func TestMemoryWhoseFreePanicsCountsNoLonger(t *testing.T) {
	from := new(stocks)
	from.values.memory = unfreeing{}
	s, err := newSlab(dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, 8, from)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Free was not called")
			}
		}()
		s.reserve(16)
	}()
	if got, want := from.slabs.Load(), s.size.Load(); got != want || want != 16*8 {
		t.Errorf("the slabs count as %d bytes, and the slab has %d, want 128", got, want)
	}
}
