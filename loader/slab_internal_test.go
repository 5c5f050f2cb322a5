package loader

import (
	"testing"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// unfreeing panics when it should free memory.
type unfreeing struct{ Heap }

func (unfreeing) Free([]byte) error { panic("broken") }

// TestMemoryWhoseFreePanicsCountsNoLonger in the budget, as if Free had returned an error.
func TestMemoryWhoseFreePanicsCountsNoLonger(t *testing.T) {
	from := new(stocks)
	from.values.memory = unfreeing{}
	s, err := newSlab(dataset.Spec{{Name: "x", Dtype: tensor.Int64}}, 8, from)
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
