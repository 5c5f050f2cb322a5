package loader_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// lengths is a dataset with a ragged field "x": sample i holds i+1 in lengths[i]
// elements of the given shape.
func lengths(shape dataset.Shape, lengths ...int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int32, Shape: shape, Ragged: true}}
	return dataset.Func(len(lengths), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Grow[int32](dst, 0, lengths[i]) {
			dataset.Row[int32](dst, 0)[k] = int32(i + 1)
		}
		return nil
	})
}

func TestPaddingAndMaskFollowTheirOptions(t *testing.T) {
	for _, c := range []struct {
		options []loader.PadOption
		shape   dataset.Shape
		want    []int32
		mask    []int64
	}{
		{nil, dataset.Shape{3, 3},
			[]int32{1, 9, 9, 9, 9, 9, 3, 3, 3}, []int64{1, 0, 0, 0, 0, 0, 1, 1, 1}},
		{[]loader.PadOption{loader.PadLeft(), {}}, dataset.Shape{3, 3},
			[]int32{9, 9, 1, 9, 9, 9, 3, 3, 3}, []int64{0, 0, 1, 0, 0, 0, 1, 1, 1}},
		{[]loader.PadOption{loader.PadToMultiple(4)}, dataset.Shape{3, 4},
			[]int32{1, 9, 9, 9, 9, 9, 9, 9, 3, 3, 3, 9}, []int64{1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0}},
		{[]loader.PadOption{loader.PadTo(2)}, dataset.Shape{3, 2},
			[]int32{1, 9, 9, 9, 3, 3}, []int64{1, 0, 0, 0, 1, 1}},
		{[]loader.PadOption{loader.PadTo(2), loader.PadLeft()}, dataset.Shape{3, 2},
			[]int32{9, 1, 9, 9, 3, 3}, []int64{0, 1, 0, 0, 1, 1}},
		{[]loader.PadOption{loader.PadTo(4)}, dataset.Shape{3, 4},
			[]int32{1, 9, 9, 9, 9, 9, 9, 9, 3, 3, 3, 9}, []int64{1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0}},
		{[]loader.PadOption{loader.PadTo(2), loader.PadToMultiple(4), loader.PadLeft()}, dataset.Shape{3, 4},
			[]int32{9, 9, 9, 1, 9, 9, 9, 9, 9, 9, 3, 3}, []int64{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1}},
	} {
		l := loadertest.New(t, lengths(nil, 1, 0, 3), loader.BatchSize(3), loader.Poison(true))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			padded, mask := loader.Padded(b, "x", int32(9), c.options...), loader.Mask[int64](b, "x", c.options...)
			if !slices.Equal(padded.Shape(), c.shape) || !slices.Equal(mask.Shape(), c.shape) {
				t.Errorf("shapes %v and %v, want %v", padded.Shape(), mask.Shape(), c.shape)
			}
			if !reflect.DeepEqual(padded.Data(), c.want) {
				t.Errorf("padded: got %v, want %v", padded.Data(), c.want)
			}
			if !reflect.DeepEqual(mask.Data(), c.mask) {
				t.Errorf("mask: got %v, want %v", mask.Data(), c.mask)
			}
		}
	}
}

func TestMaskHasEveryDtypeAndPadsWholeElements(t *testing.T) {
	l := loadertest.New(t, lengths(dataset.Shape{2}, 4, 2), loader.BatchSize(2))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		padded := loader.Padded(b, "x", int32(-1), loader.PadLeft(), loader.PadTo(3))
		if got, want := fmt.Sprint(padded.Shape(), padded.Data()), "(2, 3, 2) [1 1 1 1 1 1 -1 -1 2 2 2 2]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := loader.Mask[bool](b, "x").Data(), []bool{true, true, true, true, true, true, false, false}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got, want := loader.Mask[float32](b, "x").Data(), []float32{1, 1, 1, 1, 1, 1, 0, 0}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got, want := loader.Mask[uint8](b, "x", loader.PadTo(1)).Data(), []uint8{1, 1}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got, want := loader.Mask[int32](b, "x", loader.PadTo(1)).Data(), []int32{1, 1}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestPadOptionsPanicBelowOne(t *testing.T) {
	for want, option := range map[string]func(){
		"loader: PadTo(0): want 1 or more":          func() { loader.PadTo(0) },
		"loader: PadToMultiple(-1): want 1 or more": func() { loader.PadToMultiple(-1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			option()
		}()
	}
}
