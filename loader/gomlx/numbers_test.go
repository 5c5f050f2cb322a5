package gomlx_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"
	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func goBackend(t testing.TB) compute.Backend {
	t.Helper()
	b, err := gobackend.New("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// numbered has n samples that are made of their number, one of which may be broken.
func numbered(n, broken int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{3, 2, 2}},
		{Name: "label", Dtype: dataset.Int64},
		{Name: "truth", Dtype: dataset.Bool},
		{Name: "half", Dtype: dataset.Float16, Shape: dataset.Shape{2}},
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{1}},
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "uint", Dtype: dataset.Uint},
	}
	return datatest.Named(dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == broken {
			return errBroken
		}
		for k := range dataset.Row[uint8](dst, 0) {
			dataset.Row[uint8](dst, 0)[k] = uint8(i + k)
		}
		dataset.Row[int64](dst, 1)[0] = int64(i)
		dataset.Row[bool](dst, 2)[0] = i%2 == 1
		h := dataset.Row[dataset.F16](dst, 3)
		h[0], h[1] = dataset.ToF16(float32(i)), dataset.ToF16(0.5)
		dataset.Row[float32](dst, 4)[0] = float32(i)
		dataset.Grow[uint8](dst, 5, 1)[0] = 'x'
		dataset.Row[uint](dst, 6)[0] = 0
		return nil
	}), func(i int) string { return fmt.Sprintf("%d.jpg", i) })
}

func newDataset(t testing.TB, b compute.Backend, l *loader.Loader, options ...gomlx.Option) *gomlx.Dataset {
	t.Helper()
	ds, err := gomlx.New(b, l, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// labels are those of a batch, which it frees.
func labels(t testing.TB, b train.Batch) []int64 {
	t.Helper()
	got, err := tensors.CopyFlatData[int64](b.Labels[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finalize(); err != nil {
		t.Fatal(err)
	}
	return got
}

// loop is the labels of one loop, at most some batches of it.
func loop(t testing.TB, ds *gomlx.Dataset, most int) (got []int64) {
	t.Helper()
	for b, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, labels(t, b)...)
		if most--; most == 0 {
			break
		}
	}
	return got
}
