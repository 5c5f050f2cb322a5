package gomlx_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

// checkTensors compares a dataset's tensors with what its samples are made of.
func checkTensors(t *testing.T, backend compute.Backend) {
	t.Helper()
	l := loadertest.New(t, numbered(10, -1), loader.BatchSize(4), loader.Workers(2), loader.Poison(true))
	ds := newDataset(t, backend, l, gomlx.Inputs("image", "half"), gomlx.Labels("label", "truth"))
	var batches []train.Batch
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b) // they outlive the loop body
	}
	i := 0
	for k, b := range batches {
		rows := []int{4, 4, 2}[k]
		for _, c := range []struct {
			t     *tensors.Tensor
			dtype dtypes.DType
			dims  []int
		}{
			{b.Inputs[0], dtypes.Uint8, []int{rows, 3, 2, 2}}, {b.Inputs[1], dtypes.Float16, []int{rows, 2}},
			{b.Labels[0], dtypes.Int64, []int{rows, 1}}, {b.Labels[1], dtypes.Bool, []int{rows, 1}},
		} {
			if got := c.t.Shape(); got.DType != c.dtype || !slices.Equal(got.Dimensions, c.dims) {
				t.Errorf("batch %d: %v, want %v %v", k, got, c.dtype, c.dims)
			}
		}
		image := tensors.MustCopyFlatData[uint8](b.Inputs[0])
		truth := tensors.MustCopyFlatData[bool](b.Labels[1])
		var halves []byte
		if err := b.Inputs[1].ConstBytes(func(data []byte) { halves = slices.Clone(data) }); err != nil {
			t.Fatal(err)
		}
		for row, label := range labels(t, b) {
			want := dataset.ToF16(float32(i))
			if label != int64(i) || truth[row] != (i%2 == 1) || image[12*row] != uint8(i) || image[12*row+11] != uint8(i+11) || halves[4*row] != byte(want) || halves[4*row+1] != byte(want>>8) {
				t.Errorf("batch %d, row %d: label %d, %v, image %v, halves %v, want those of sample %d", k, row, label, truth[row], image[12*row:][:12], halves[4*row:][:4], i)
			}
			i++
		}
	}
	if i != 10 {
		t.Errorf("%d samples, want 10", i)
	}
}

func TestTensorsAreTheBatchesCopies(t *testing.T) {
	onBackends(t, checkTensors)
	t.Run("without a backend", func(t *testing.T) { checkTensors(t, nil) })
}

func TestInputsAreAllFieldsButTheLabels(t *testing.T) {
	ds, err := dataset.Select(numbered(3, -1), "label", "x", "image")
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range newDataset(t, goBackend(t), loadertest.New(t, ds), gomlx.Labels("label")).Iter() {
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Inputs) != 2 || b.Inputs[0].DType() != dtypes.Float32 || b.Inputs[1].DType() != dtypes.Uint8 || len(b.Labels) != 1 || b.Spec != nil {
			t.Errorf("inputs %v, labels %v, spec %v", b.Inputs, b.Labels, b.Spec)
		}
	}
}

func TestShortBatchesAreFilledUp(t *testing.T) {
	l := loadertest.New(t, numbered(6, -1), loader.BatchSize(4))
	ds := newDataset(t, goBackend(t), l, gomlx.Inputs("x"), gomlx.Labels("label"), gomlx.PadTo(4))
	var masks [][]bool
	var got [][]int64
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		if dims := b.Inputs[0].Shape().Dimensions; !slices.Equal(dims, []int{4, 1}) || !slices.Equal(b.Labels[1].Shape().Dimensions, []int{4}) {
			t.Errorf("input %v, mask %v", dims, b.Labels[1].Shape())
		}
		masks = append(masks, tensors.MustCopyFlatData[bool](b.Labels[1]))
		got = append(got, labels(t, b))
	}
	if want := "[[true true true true] [true true false false]]"; fmt.Sprint(masks) != want {
		t.Errorf("masks %v, want %s", masks, want)
	}
	if want := "[[0 1 2 3] [4 5 0 0]]"; fmt.Sprint(got) != want {
		t.Errorf("labels %v, want %s", got, want)
	}
	for _, err := range newDataset(t, nil, l, gomlx.Inputs("x"), gomlx.PadTo(3)).Iter() {
		if want := "gomlx: batch 0 of epoch 0: 4 samples are more than PadTo(3)"; fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
