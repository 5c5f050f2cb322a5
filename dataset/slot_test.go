package dataset_test

import (
	"testing"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

var (
	imageField = dataset.Field{Name: "image", Dtype: tensor.Float32, Shape: tensor.Shape{2, 3}}
	labelField = dataset.Field{Name: "label", Dtype: tensor.Int64}
	wordsField = dataset.Field{Name: "words", Dtype: tensor.Int32, Ragged: true}
)

func newSlot(fields ...dataset.Field) dataset.Slot {
	cells := make([]dataset.Cell, len(fields))
	for i, f := range fields {
		cells[i] = dataset.NewCell(f)
	}
	return dataset.NewSlot(cells, nil)
}

func TestRowIsTheCellsMemory(t *testing.T) {
	row := make([]byte, 24+8)[:24]
	slot := dataset.NewSlot([]dataset.Cell{dataset.FixedCell(imageField, row)}, nil)
	values := dataset.Row[float32](slot, 0)
	if len(values) != 6 || cap(values) != 6 {
		t.Fatalf("row has length %d and capacity %d, want 6 and 6", len(values), cap(values))
	}
	values[5] = 1
	if got := *(*float32)(unsafe.Pointer(&row[20])); got != 1 {
		t.Errorf("memory holds %v after a write of 1", got)
	}
}

func TestScalarRowHoldsOneValue(t *testing.T) {
	slot := newSlot(labelField)
	dataset.Set(slot, 0, int64(7))
	if got := dataset.Row[int64](slot, 0); len(got) != 1 || got[0] != 7 {
		t.Errorf("got %v, want [7]", got)
	}
}

func TestWrongElementTypePanics(t *testing.T) {
	nameless := dataset.Field{Dtype: tensor.Int16}
	slot := newSlot(imageField, labelField, wordsField, nameless)
	column := dataset.NewColumn(labelField, make([]byte, 16))
	for _, c := range []struct {
		want string
		use  func()
	}{
		{`dataset: field "label" holds int64, not float64`, func() { dataset.Row[float64](slot, 1) }},
		{`dataset: field "image" holds float32, not int64`, func() { dataset.Set(slot, 0, int64(1)) }},
		{`dataset: field "words" holds int32, not uint8`, func() { dataset.Grow[uint8](slot, 2, 5) }},
		{`dataset: field "label" holds int64, not bool`, func() {
			dataset.Row[bool](dataset.NewSlot([]dataset.Cell{column.Cell(1)}, nil), 0)
		}},
		{`dataset: field 3 holds int16, not uint16`, func() { dataset.Row[uint16](slot, 3) }},
		{`dataset: Grow of field "label", which is not ragged`, func() { dataset.Grow[int64](slot, 1, 2) }},
	} {
		if got := panicOf(c.use); got != c.want {
			t.Errorf("panic %v, want %v", got, c.want)
		}
	}
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func TestGrowKeepsTheBeginning(t *testing.T) {
	slot := newSlot(wordsField)
	copy(dataset.Grow[int32](slot, 0, 2), []int32{4, 5})
	dataset.Grow[int32](slot, 0, 100)[99] = 6
	got := dataset.Row[int32](slot, 0)
	if len(got) != 100 || got[0] != 4 || got[1] != 5 || got[99] != 6 {
		t.Errorf("got %d values: %v", len(got), got)
	}
}

func TestRandDependsOnSeedEpochAndDraw(t *testing.T) {
	value := func(seed uint64, epoch, draw int) uint64 {
		d := dataset.NewDraw(nil)
		d.Reset(seed, epoch, draw)
		d.Rand() // the second call continues the sequence, it does not restart it
		return d.Rand().Uint64()
	}
	if first, again := value(1, 2, 3), value(1, 2, 3); first != again {
		t.Error("the same draw gave different numbers")
	}
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for epoch := range 10 {
			for draw := range 100 {
				seen[value(seed, epoch, draw)] = true
			}
		}
	}
	if len(seen) != 10*10*100 {
		t.Errorf("%d different numbers of %d draws", len(seen), 10*10*100)
	}
}

func TestPlacingAllocatesNothing(t *testing.T) {
	slot := newSlot(imageField, labelField, wordsField)
	dataset.Grow[int32](slot, 2, 100)
	slot.Rand()
	epoch := 0
	allocs := testing.AllocsPerRun(100, func() {
		epoch++
		slot.Draw().Reset(1, epoch, 0)
		dataset.Row[float32](slot, 0)[0] = slot.Rand().Float32()
		dataset.Set(slot, 1, int64(1))
		dataset.Grow[int32](slot, 2, epoch%100)
	})
	if allocs != 0 {
		t.Errorf("%v allocations per sample, want 0", allocs)
	}
}

func TestRaggedCellsOfOneBufferShareWhatTheyKnow(t *testing.T) {
	buffer := new(dataset.Buffer)
	if got := testing.AllocsPerRun(100, func() { _ = dataset.RaggedCell(wordsField, buffer) }); got != 0 {
		t.Errorf("%v allocations per cell, want none", got)
	}
	other := wordsField
	other.Name = "letters"
	slot := dataset.NewSlot([]dataset.Cell{dataset.RaggedCell(wordsField, buffer), dataset.RaggedCell(other, buffer)}, nil)
	for f, want := range []string{`dataset: field "words" holds int32, not bool`, `dataset: field "letters" holds int32, not bool`} {
		if got := panicOf(func() { dataset.Row[bool](slot, f) }); got != want {
			t.Errorf("panic %v, want %v", got, want)
		}
	}
}
