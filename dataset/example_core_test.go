package dataset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
)

// squares implements Dataset and Reader: sample i is the numbers 1 to i, and i².
type squares struct{ n int }

func (s squares) Len() int { return s.n }

func (s squares) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "numbers", Dtype: dataset.Int32, Ragged: true},
		{Name: "square", Dtype: dataset.Int64},
	}
}

func (s squares) Name(i int) string             { return fmt.Sprintf("square of %d", i) }
func (s squares) Open() (dataset.Reader, error) { return s, nil }
func (s squares) Close() error                  { return nil }

func (s squares) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, s.n); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	numbers := dataset.Grow[int32](dst, 0, i)
	for k := range numbers {
		numbers[k] = int32(k + 1)
	}
	dataset.Set(dst, 1, int64(i*i))
	return nil
}

func ExampleDataset() {
	ds := squares{10}
	s, err := dataset.At(context.Background(), ds, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dataset.Name(ds, 4), s["numbers"].Data(), s["square"].Data())
	// Output:
	// square of 4 [1 2 3 4] 16
}

func ExampleAt() {
	s, err := dataset.At(context.Background(), squares{10}, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s["numbers"].Shape(), s["square"].Data())
	_, err = dataset.At(context.Background(), squares{10}, 10)
	fmt.Println(err)
	// Output:
	// (3) 9
	// dataset: sample 10 is out of range: there are 10
}

func ExampleSpec() {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 224, 224}},
		{Name: "boxes", Dtype: dataset.Int16, Shape: dataset.Shape{4}, Ragged: true},
	}
	fmt.Println(spec, spec.Validate(), spec.Index("boxes"))
	fmt.Println(spec[0].Elements(), spec[0].Bytes(), spec[1].Bytes())
	// Output:
	// image float32 (3, 224, 224), boxes int16 (n, 4) <nil> 1
	// 150528 602112 8
}

// A sample is read into a slot without a loader.
func ExampleNewSlot() {
	ds := squares{10}
	slot := dataset.NewSlot(ds.Spec()...)
	if err := ds.Place(context.Background(), 3, slot); err != nil {
		log.Fatal(err)
	}
	fmt.Println(slot.Len(), dataset.Row[int32](slot, 0), dataset.Row[int64](slot.Fields(1, 2), 0))
	fmt.Println(slot.Cell(0).Ragged(), len(slot.Cell(0).Bytes()), len(slot.Cell(0).Grow(8)))
	// Output:
	// 2 [1 2 3] [9]
	// true 12 8
}

// A wrapper replaces the field of numbers by their count. The underlying dataset
// places the numbers in scratch memory, and the square straight into dst.
func ExampleSlot_With() {
	inner := squares{10}
	own := dataset.NewCell(inner.Spec()[0])
	place := func(i int, dst dataset.Slot) error {
		if err := inner.Place(context.Background(), i, dst.With([]dataset.Cell{own, dst.Cell(1)})); err != nil {
			return err
		}
		dataset.Set(dst, 0, int64(len(own.Bytes())/4))
		return nil
	}
	dst := dataset.NewSlot(dataset.Field{Name: "count", Dtype: dataset.Int64}, inner.Spec()[1])
	if err := place(3, dst); err != nil {
		log.Fatal(err)
	}
	fmt.Println(dataset.Row[int64](dst, 0), dataset.Row[int64](dst, 1))
	// Output: [3] [9]
}

func ExampleRow() {
	field := dataset.Field{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}}
	slot := dataset.NewSlot(field)
	copy(dataset.Row[float32](slot, 0), []float32{1, 2, 3, 4})
	fmt.Println(dataset.Row[float32](slot, 0))
	// Output: [1 2 3 4]
}

func ExampleSet() {
	field := dataset.Field{Name: "label", Dtype: dataset.Int64}
	slot := dataset.NewSlot(field)
	dataset.Set(slot, 0, int64(5))
	fmt.Println(dataset.Row[int64](slot, 0))
	// Output: [5]
}

func ExampleGrow() {
	field := dataset.Field{Name: "text", Dtype: dataset.Uint8, Ragged: true}
	slot := dataset.NewSlot(field)
	copy(dataset.Grow[uint8](slot, 0, 5), "hello")
	copy(dataset.Grow[uint8](slot, 0, 7)[5:], " !")
	fmt.Printf("%s\n", dataset.Row[uint8](slot, 0))
	// Output: hello !
}

// A sample's tensors have their dtype, their shape and their values.
func ExampleTensor() {
	ds, err := dataset.Tensors(
		dataset.Named("image", dataset.TensorOf([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 1, 2, 2)),
		dataset.Named("label", []int64{7, 8}))
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	image, label := sample["image"], sample["label"]
	fmt.Println(image, image.Shape().Elements())
	fmt.Println(label.Dtype(), label.Data(), dataset.ValuesOf[int64](label))
	// Output:
	// [[[4 5] [6 7]]] 4
	// int64 8 [8]
}

// A dtype knows its name and size.
func ExampleDtype() {
	dt, err := dataset.ParseDtype("bfloat16")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dt, dt.Size(), "bytes,", dt.Type(), dt.IsFloat(), dt.IsInteger(), dt == dataset.DtypeOf[dataset.BF16]())
	// Output: bfloat16 2 bytes, dataset.BF16 true false true
}

// NewTensor is for memory that was read from elsewhere.
func ExampleNewTensor() {
	memory := []byte{1, 0, 2, 0}
	x := dataset.NewTensor(dataset.Uint8, dataset.Shape{2, 2}, memory)
	fmt.Println(x, x.Bytes())
	// Output: [[1 0] [2 0]] [1 0 2 0]
}
