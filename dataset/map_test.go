package dataset_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestMapSharesTheFieldsThatItPassesOn(t *testing.T) {
	ds := datatest.Tensors(t, dataset.Named("image", [][2]float32{{1, 2}, {3, 4}}), dataset.Named("label", []int64{1, 0}))
	spec := ds.Spec()
	spec = dataset.Spec{spec[1], {Name: "sum", Dtype: dataset.Float32}, spec[0]}
	scaled := must(dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
		x := dataset.Row[float32](src, 0)
		if &x[0] != &dataset.Row[float32](dst, 2)[0] {
			return errors.New("the image was copied")
		}
		for k := range x {
			x[k] *= 10
		}
		dataset.Set(dst, 1, x[0]+x[1])
		return nil
	}))
	s := datatest.Sample(t, scaled, 1)
	if got := dataset.ValuesOf[float32](s["image"]); !slices.Equal(got, []float32{30, 40}) || dataset.ValuesOf[float32](s["sum"])[0] != 70 || dataset.ValuesOf[int64](s["label"])[0] != 0 {
		t.Errorf("got %v with sum %v, label %v", got, s["sum"].Data(), s["label"].Data())
	}
	if got := dataset.ValuesOf[float32](datatest.Sample(t, ds, 1)["image"]); !slices.Equal(got, []float32{3, 4}) {
		t.Errorf("the dataset itself now has %v", got)
	}
}

func TestFieldsOfAnotherDtypeAreMade(t *testing.T) {
	ds := datatest.Tensors(t, dataset.Named("x", [][2]uint8{{1, 200}}))
	floats := must(dataset.Map(ds, dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2}}}, func(dst, src dataset.Slot) error {
		for k, v := range dataset.Row[uint8](src, 0) {
			dataset.Row[float32](dst, 0)[k] = float32(v) / 2
		}
		return nil
	}))
	if got := dataset.ValuesOf[float32](datatest.Sample(t, floats, 0)["x"]); !slices.Equal(got, []float32{.5, 100}) {
		t.Errorf("got %v", got)
	}
}

func TestMapPassesErrorsOn(t *testing.T) {
	bad := errors.New("bad")
	ds := datatest.Tensors(t, dataset.Named("x", []int64{1}))
	mine := must(dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error { return bad }))
	theirs := must(dataset.Map(dataset.Func(1, ds.Spec(), func(context.Context, int, dataset.Slot) error { return bad }), ds.Spec(),
		func(_, _ dataset.Slot) error { t.Error("called after an error"); return nil }))
	for _, ds := range []dataset.Dataset{mine, theirs} {
		if _, err := dataset.At(t.Context(), ds, 0); !errors.Is(err, bad) {
			t.Errorf("got %v", err)
		}
	}
}

func TestMapHasTheDrawsRandomNumbers(t *testing.T) {
	ds := dataset.Func(3, dataset.Spec{{Name: "a", Dtype: dataset.Uint64}}, func(_ context.Context, _ int, dst dataset.Slot) error {
		dataset.Set(dst, 0, dst.Rand().Uint64())
		return nil
	})
	both := append(ds.Spec(), dataset.Field{Name: "b", Dtype: dataset.Uint64})
	noisy := must(dataset.Map(gather{ds}, both, func(dst, _ dataset.Slot) error {
		dataset.Set(dst, 1, dst.Rand().Uint64())
		return nil
	}))
	r := datatest.Open(t, noisy)
	batch := datatest.NewSlots(3, both)
	for k := range batch {
		datatest.Reset(batch[k], 1, 2, k)
	}
	if err := r.(dataset.BatchReader).PlaceBatch(t.Context(), []int{0, 1, 2}, batch); err != nil {
		t.Fatal(err)
	}
	for k := range batch {
		want := dataset.NewSlot()
		datatest.Reset(want, 1, 2, k)
		for f := range both {
			if got, want := dataset.Row[uint64](batch[k], f)[0], want.Rand().Uint64(); got != want {
				t.Errorf("row %d, field %d: got %x, want %x", k, f, got, want)
			}
		}
	}
}
