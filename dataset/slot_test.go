package dataset_test

import (
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
)

var (
	imageField = dataset.Field{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}}
	labelField = dataset.Field{Name: "label", Dtype: dataset.Int64}
	wordsField = dataset.Field{Name: "words", Dtype: dataset.Int32, Ragged: true}
)

func TestScalarRowHoldsOneValue(t *testing.T) {
	slot := dataset.NewSlot(labelField)
	dataset.Set(slot, 0, int64(7))
	if got := dataset.Row[int64](slot, 0); len(got) != 1 || got[0] != 7 {
		t.Errorf("got %v, want [7]", got)
	}
}

func TestWrongElementTypePanics(t *testing.T) {
	nameless := dataset.Field{Dtype: dataset.Int16}
	slot := dataset.NewSlot(imageField, labelField, wordsField, nameless)
	for _, c := range []struct {
		want string
		use  func()
	}{
		{`dataset: field "label" holds int64, not float64`, func() { dataset.Row[float64](slot, 1) }},
		{`dataset: field "image" holds float32, not int64`, func() { dataset.Set(slot, 0, int64(1)) }},
		{`dataset: field "words" holds int32, not uint8`, func() { dataset.Grow[uint8](slot, 2, 5) }},
		{`dataset: field 3 holds int16, not uint16`, func() { dataset.Row[uint16](slot, 3) }},
		{`dataset: Set of field "image", which has 6 values, not 1: want Row or Grow`, func() { dataset.Set(slot, 0, float32(1)) }},
		{`dataset: Set of field "words", which has 0 values, not 1: want Row or Grow`, func() { dataset.Set(slot, 2, int32(1)) }},
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
	slot := dataset.NewSlot(wordsField)
	copy(dataset.Grow[int32](slot, 0, 2), []int32{4, 5})
	dataset.Grow[int32](slot, 0, 100)[99] = 6
	got := dataset.Row[int32](slot, 0)
	if len(got) != 100 || got[0] != 4 || got[1] != 5 || got[99] != 6 {
		t.Errorf("got %d values: %v", len(got), got)
	}
}

func TestPlacingAllocatesNothing(t *testing.T) {
	slot := dataset.NewSlot(imageField, labelField, wordsField)
	dataset.Grow[int32](slot, 2, 100)
	slot.Rand()
	epoch := 0
	got := allocs.PerRun(0, 100, func() {
		epoch++
		datatest.Reset(slot, 1, epoch, 0)
		dataset.Row[float32](slot, 0)[0] = slot.Rand().Float32()
		dataset.Set(slot, 1, int64(1))
		dataset.Grow[int32](slot, 2, epoch%100)
	})
	if got != 0 {
		t.Errorf("%v allocations per sample, want 0", got)
	}
}

func TestSlotsShareCellsAndDraw(t *testing.T) {
	outer := dataset.NewSlot(labelField, imageField)
	datatest.Reset(outer, 1, 2, 3)
	want := dataset.NewSlot()
	datatest.Reset(want, 1, 2, 3)
	own := dataset.NewCell(wordsField)
	inner := outer.With([]dataset.Cell{own, outer.Cell(0)})
	copy(dataset.Grow[int32](inner, 0, 2), []int32{4, 5})
	dataset.Set(inner, 1, int64(6))
	if got := dataset.Row[int64](outer, 0)[0]; got != 6 {
		t.Errorf("the outer slot holds %d, want 6", got)
	}
	if got := own.Bytes(); len(got) != 8 {
		t.Errorf("the own cell holds %d bytes, want 8", len(got))
	}
	if got, want := inner.Rand().Uint64(), want.Rand().Uint64(); got != want {
		t.Error("the inner slot has other random numbers")
	}
}
