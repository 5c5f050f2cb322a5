package slab

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
	s, err := newSlab(NewPool(Config{Spec: dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, Memory: &reluctant{}}, 8), 8)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(16); err == nil {
		t.Fatal("the error of Free is lost")
	}
	if err := s.Reserve(8); err != nil {
		t.Fatal(err)
	}
	cells := make([]slots.Cell, 1)
	s.Cells(7, cells)
	cells[0].Bytes()[0] = 1
	if got := s.Column(0, 8)[7*8]; got != 1 {
		t.Errorf("the batch reads %d, want what was placed, 1", got)
	}
}

// unfreeing panics when it should free memory.
type unfreeing struct{ Heap }

func (unfreeing) Free([]byte) error { panic("broken") }

// TestMemoryWhoseFreePanicsCountsNoLonger in the budget, as if Free had returned an error.
func TestMemoryWhoseFreePanicsCountsNoLonger(t *testing.T) {
	p := NewPool(Config{Spec: dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, Memory: unfreeing{}}, 8)
	s, err := newSlab(p, 8)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Free was not called")
			}
		}()
		s.Reserve(16)
	}()
	if got, want := p.Held(), int64(len(s.block)); got != want || want != 16*8 {
		t.Errorf("the slabs count as %d bytes, and the slab has %d, want 128", got, want)
	}
}

// closing counts blocks, and closes the pool while it frees the first one.
type closing struct {
	Heap
	pool *Pool
	out  int
}

func (c *closing) Alloc(n int) ([]byte, error) {
	c.out++
	return c.Heap.Alloc(n)
}

func (c *closing) Free([]byte) error {
	c.out--
	if c.pool == nil {
		return nil
	}
	p := c.pool
	c.pool = nil
	p.Shut()
	return p.Close()
}

// TestAFreeSlabThatGivesBackItsRaggedMemoryWhileThePoolClosesIsFreed.
func TestAFreeSlabThatGivesBackItsRaggedMemoryWhileThePoolClosesIsFreed(t *testing.T) {
	memory := new(closing)
	p := NewPool(Config{Spec: dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "y", Dtype: dataset.Uint8, Ragged: true}}, Memory: memory, Budget: 20_000, Least: 3}, 1)
	for range 2 {
		if err := p.Add(); err != nil {
			t.Fatal(err)
		}
	}
	a, b := p.Take(), p.Take()
	if _, _, err := a.Fill(1, 1, 8000); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Vacate(), p.Put(a)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Fill(1, 1, 16000); err != nil {
		t.Fatal(err)
	}
	memory.pool = p
	if err := errors.Join(b.Vacate(), p.Put(b)); err != nil || memory.pool != nil || memory.out != 0 {
		t.Errorf("%d blocks are not freed, error %v", memory.out, err)
	}
}

// TestTheLargestBatchCountsAllItsRaggedFields.
func TestTheLargestBatchCountsAllItsRaggedFields(t *testing.T) {
	field := dataset.Field{Dtype: dataset.Uint8, Ragged: true}
	spec := dataset.Spec{field, field}
	spec[0].Name, spec[1].Name = "x", "y"
	p := NewPool(Config{Spec: spec, Memory: Heap{}, Budget: math.MaxInt, Least: 3}, 1)
	if err := p.Add(); err != nil {
		t.Fatal(err)
	}
	s := p.Take()
	for column := range spec {
		if _, _, err := s.Fill(column, 1, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Pack(1); err != nil {
		t.Fatal(err)
	}
	if got, want := int64(p.largest), p.Held(); got != want || want < 2000 {
		t.Errorf("the largest batch counts as %d bytes, and has %d", got, want)
	}
}

// TestBudgetHoldsWhereProductsOverflow, as they do early where an int has 32 bits.
func TestBudgetHoldsWhereProductsOverflow(t *testing.T) {
	p := NewPool(Config{Spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{1 << 20}}}, Memory: Heap{}, Budget: math.MaxInt / 2, Least: 3}, 1)
	p.slabs, p.free, p.ragged, p.filling = 9, make([]*Slab, 5), true, 4
	p.largest = math.MaxInt / 4
	if p.fits() {
		t.Error("there is room for a fifth batch of a quarter of the address space")
	}
	p.largest = 1 << 20
	if !p.fits() {
		t.Error("there is no room for a fifth batch of 1 MiB")
	}
	p.notes(0, 600<<20)
	if got, want := p.Room(), math.MaxInt > math.MaxInt32; got != want {
		t.Errorf("room for a fifth batch of 600 MiB: %v, want %v", got, want)
	}
}

// full gives memory full of ones.
type full struct{ Heap }

func (f full) Alloc(n int) ([]byte, error) {
	b, err := f.Heap.Alloc(n)
	for i := range b {
		b[i] = 1
	}
	return b, err
}

// TestTouchWritesToEveryPage of the slabs that are free, and to nothing else.
func TestTouchWritesToEveryPage(t *testing.T) {
	p := NewPool(Config{Spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{10_000}}}, Memory: full{}}, 3)
	var slabs []*Slab
	for range 4 {
		if err := p.Add(); err != nil {
			t.Fatal(err)
		}
	}
	taken := p.Take()
	p.Touch(2)
	for range 3 {
		slabs = append(slabs, p.Take())
	}
	for i, s := range append(slabs, taken) {
		for page := 0; page < len(s.block); page += 4096 {
			if written := s.block[page] == 0; written != (s != taken) {
				t.Errorf("slab %d, byte %d: written to: %v", i, page, written)
			}
		}
	}
}
