package dataset_test

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

func counting(shape ...int) dataset.Tensor {
	values := make([]float32, dataset.Shape(shape).Elements())
	for i := range values {
		values[i] = float32(i)
	}
	return dataset.TensorOf(values, shape...)
}

func TestTensorsPlacesRowsOfEveryKindOfValues(t *testing.T) {
	type class int16
	for _, c := range []struct {
		values any
		field  string
		rows   []any
	}{
		{counting(2, 1, 3), "x float32 (1, 3)", []any{[]float32{0, 1, 2}, []float32{3, 4, 5}}},
		{counting(2), "x float32 ()", []any{float32(0), float32(1)}},
		{counting(2, 1), "x float32 (1)", []any{[]float32{0}, []float32{1}}},
		{counting(1, 2), "x float32 (2)", []any{[]float32{0, 1}}},
		{counting(1), "x float32 ()", []any{float32(0)}},
		{[]int64{5, 6}, "x int64 ()", []any{int64(5), int64(6)}},
		{[]class{5, 6}, "x int16 ()", []any{int16(5), int16(6)}},
		{[]bool{true}, "x bool ()", []any{true}},
		{[][]uint8{{1, 2}, {3, 4}}, "x uint8 (2)", []any{[]uint8{1, 2}, []uint8{3, 4}}},
		{[][2]uint8{{1, 2}, {3, 4}}, "x uint8 (2)", []any{[]uint8{1, 2}, []uint8{3, 4}}},
		{[][2][1]uint8{{{1}, {2}}}, "x uint8 (2, 1)", []any{[]uint8{1, 2}}},
		{[][][2]uint8{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, "x uint8 (2, 2)", []any{[]uint8{1, 2, 3, 4}, []uint8{5, 6, 7, 8}}},
		{[]complex128{1i}, "x complex128 ()", []any{1i}},
	} {
		ds := datatest.Tensors(t, dataset.Named("x", c.values))
		if got := ds.Spec().String(); got != c.field {
			t.Errorf("%T: field %s, want %s", c.values, got, c.field)
		}
		if ds.Len() != len(c.rows) {
			t.Fatalf("%T: %d samples, want %d", c.values, ds.Len(), len(c.rows))
		}
		for i, want := range c.rows {
			if got := datatest.Sample(t, ds, i)["x"].Data(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%T: sample %d is %v, want %v", c.values, i, got, want)
			}
		}
	}
}

func TestTensorsCopiesNothing(t *testing.T) {
	image := counting(2, 2)
	labels := []int64{0, 1}
	texts := [][]uint8{{'a'}, {'b'}}
	ds := datatest.Tensors(t, dataset.Named("image", image), dataset.Named("label", labels), dataset.Named("text", texts))
	dataset.ValuesOf[float32](image)[2] = 8
	labels[1] = 9
	texts[1][0] = 'c'
	s := datatest.Sample(t, ds, 1)
	got := fmt.Sprint(s["image"].Data(), s["label"].Data(), s["text"].Data())
	if want := "[8 3] 9 [99]"; got != want {
		t.Errorf("after a change of the values the sample is %s, want %s", got, want)
	}
}

func TestTensorsSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		fields []dataset.NamedValues
		want   string
	}{
		{nil, "dataset: Tensors: no fields"},
		{[]dataset.NamedValues{dataset.Named("a", []int{1, 2}), dataset.Named("b", []int{1})},
			`dataset: Tensors: field "b" has 1 samples, field "a" has 2`},
		{[]dataset.NamedValues{dataset.Named("a", []int{1}), dataset.Named("a", []int{1})}, `dataset: spec: two fields are named "a"`},
		{[]dataset.NamedValues{dataset.Named("a", nil)}, `dataset: Tensors: field "a": values of type <nil>: want a slice or a dataset.Tensor`},
		{[]dataset.NamedValues{dataset.Named("a", 3), dataset.Named("b", []string{"x"})},
			`dataset: Tensors: field "a": values of type int: want a slice or a dataset.Tensor` + "\n" +
				`dataset: Tensors: field "b": values of type string, which has no fixed size`},
		{[]dataset.NamedValues{dataset.Named("a", [][]int{{1, 2}, {3}})}, `dataset: Tensors: field "a": row 1 has 1 values, row 0 has 2`},
		{[]dataset.NamedValues{dataset.Named("a", [][]int{})}, `dataset: Tensors: field "a": no rows, so their length is unknown`},
		{[]dataset.NamedValues{dataset.Named("a", [][]int{{}})}, `dataset: spec: field "a": shape (0) has a dimension below 1`},
		{[]dataset.NamedValues{dataset.Named("a", dataset.NewTensor(dataset.Float64, nil, make([]byte, 8)))},
			`dataset: Tensors: field "a": a scalar tensor: want a first dimension, the number of samples`},
		{[]dataset.NamedValues{dataset.Named("a", dataset.Tensor{})}, `dataset: Tensors: field "a": values of type dataset.Tensor: want a slice or a dataset.Tensor`},
	} {
		_, err := dataset.Tensors(c.fields...)
		if err == nil || err.Error() != c.want {
			t.Errorf("got error  %v\nwant       %s", err, c.want)
		}
	}
}

func TestTensorsPlacesWithoutAllocation(t *testing.T) {
	ds := datatest.Tensors(t, dataset.Named("image", counting(4, 3, 8, 8)), dataset.Named("label", []int64{0, 1, 2, 3}))
	datatest.PlacesWithoutAllocation(t, ds)
}

// BenchmarkTensors places CIFAR-sized samples in random order. It is compared with a
// loop that copies the same rows and does nothing else.
func BenchmarkTensors(b *testing.B) {
	const n, rows = 50_000, 64
	images, labels := make([][3072]uint8, n), make([]int64, n)
	for i := range images {
		images[i][0], labels[i] = uint8(i), int64(i)
	}
	ds := datatest.Tensors(b, dataset.Named("image", images), dataset.Named("label", labels))
	r, err := ds.Open()
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]dataset.Slot, rows)
	for k := range batch {
		batch[k] = dataset.NewSlot(ds.Spec()...)
	}
	b.Run("Place", func(b *testing.B) {
		ctx := b.Context()
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			i = (i + 7919) % n
			if err := r.Place(ctx, i, batch[i%rows]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
	})
	b.Run("copy", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i = (i + 7919) % n
			copy(batch[i%rows].Cell(0).Bytes(), images[i][:])
			batch[i%rows].Cell(1).Bytes()[0] = byte(labels[i])
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
	})
}
