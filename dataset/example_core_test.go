package dataset_test

import (
	"context"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// squares is a dataset of its own kind: the numbers up to i, and i squared.
type squares struct{ n int }

func (s squares) Len() int { return s.n }

func (s squares) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "numbers", Dtype: tensor.Int32, Ragged: true},
		{Name: "square", Dtype: tensor.Int64},
	}
}

func (s squares) Name(i int) string                            { return fmt.Sprintf("square of %d", i) }
func (s squares) ReadAhead(ctx context.Context, indices []int) { fmt.Println("soon:", indices) }
func (s squares) Open() (dataset.Reader, error)                { return s, nil }
func (s squares) Close() error                                 { return nil }

func (s squares) Place(ctx context.Context, i int, dst dataset.Slot) error {
	dst.Stage(dataset.Read)
	numbers := dataset.Grow[int32](dst, 0, i)
	for k := range numbers {
		numbers[k] = int32(k + 1)
	}
	dataset.Set(dst, 1, int64(i*i))
	return nil
}

func ExampleDataset() {
	ds := squares{10}
	dataset.ReadAhead(context.Background(), ds, []int{4})
	s, err := dataset.At(context.Background(), ds, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dataset.Name(ds, 4), s["numbers"].Data(), s["square"].Data())
	// Output:
	// soon: [4]
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
	// dataset: sample 10 of 10
}

func ExampleSpec() {
	spec := dataset.Spec{
		{Name: "image", Dtype: tensor.Float32, Shape: tensor.Shape{3, 224, 224}},
		{Name: "boxes", Dtype: tensor.Int16, Shape: tensor.Shape{4}, Ragged: true},
	}
	fmt.Println(spec, spec.Validate(), spec.Index("boxes"))
	fmt.Println(spec[0].Elements(), spec[0].Bytes(), spec[1].Bytes())
	// Output:
	// image float32 (3, 224, 224), boxes int16 (n, 4) <nil> 1
	// 150528 602112 8
}

// A dataset that wraps another one gives it a slot with cells of its own.
func ExampleNewSlot() {
	inner := squares{10}
	spec := inner.Spec()
	cells := []dataset.Cell{dataset.RaggedCell(spec[0], new(dataset.Buffer)), dataset.NewCell(spec[1])}
	slot := dataset.NewSlot(cells, dataset.NewDraw(nil))
	if err := inner.Place(context.Background(), 3, slot); err != nil {
		log.Fatal(err)
	}
	fmt.Println(slot.Len(), dataset.Row[int32](slot, 0), dataset.Row[int64](slot.Fields(1, 2), 0))
	fmt.Println(slot.Cell(0).Ragged(), len(slot.Cell(0).Bytes()), len(slot.Cell(0).Grow(8)))
	// Output:
	// 2 [1 2 3] [9]
	// true 12 8
}

func ExampleRow() {
	field := dataset.Field{Name: "image", Dtype: tensor.Float32, Shape: tensor.Shape{2, 2}}
	slot := dataset.NewSlot([]dataset.Cell{dataset.NewCell(field)}, nil)
	copy(dataset.Row[float32](slot, 0), []float32{1, 2, 3, 4})
	fmt.Println(dataset.Row[float32](slot, 0))
	// Output: [1 2 3 4]
}

func ExampleSet() {
	field := dataset.Field{Name: "label", Dtype: tensor.Int64}
	slot := dataset.NewSlot([]dataset.Cell{dataset.NewCell(field)}, nil)
	dataset.Set(slot, 0, int64(5))
	fmt.Println(dataset.Row[int64](slot, 0))
	// Output: [5]
}

func ExampleGrow() {
	field := dataset.Field{Name: "text", Dtype: tensor.Uint8, Ragged: true}
	slot := dataset.NewSlot([]dataset.Cell{dataset.NewCell(field)}, nil)
	copy(dataset.Grow[uint8](slot, 0, 5), "hello")
	copy(dataset.Grow[uint8](slot, 0, 7)[5:], " !")
	fmt.Printf("%s\n", dataset.Row[uint8](slot, 0))
	// Output: hello !
}

func ExampleFixedCell() {
	field := dataset.Field{Name: "pixel", Dtype: tensor.Uint8, Shape: tensor.Shape{3}}
	slab := make([]byte, 2*field.Bytes()) // two rows
	cell := dataset.FixedCell(field, slab[3:6])
	copy(dataset.Row[uint8](dataset.NewSlot([]dataset.Cell{cell}, nil), 0), "rgb")
	fmt.Printf("%q\n", slab)
	// Output: "\x00\x00\x00rgb"
}

func ExampleTensorOver() {
	var buffer dataset.Buffer
	x := dataset.TensorOver(tensor.Int16, tensor.Shape{2, 2}, buffer.Grow(8))
	buffer.Bytes()[0] = 7
	fmt.Println(x.Data())
	// Output: [7 0 0 0]
}

// The same draw has the same random numbers, whoever asks.
func ExampleDraw() {
	draw := dataset.NewDraw(nil)
	draw.Reset(1, 0, 42)
	first := draw.Rand().Uint64()
	draw.Reset(1, 0, 43)
	second := draw.Rand().Uint64()
	draw.Reset(1, 0, 42)
	fmt.Println(draw.Rand().Uint64() == first, first == second)
	// Output: true false
}

func ExampleClock() {
	clock := dataset.NewClock(context.Background())
	draw := dataset.NewDraw(clock)
	draw.Stage(dataset.Read)
	draw.Stage(dataset.Decode)
	fmt.Println("in", clock.Current())
	clock.Stop()
	for _, s := range clock.Times(nil) {
		fmt.Println(s.Name, s.Count, s.Total >= 0)
	}
	// Output:
	// in decode
	// read 1 true
	// decode 1 true
}

// A batch of two rows, whose cells a loader hands to two workers.
func ExampleNewColumn() {
	field := dataset.Field{Name: "pixel", Dtype: tensor.Uint8, Shape: tensor.Shape{3}}
	slab := make([]byte, 2*field.Bytes())
	column := dataset.NewColumn(field, slab)
	copy(column.Cell(1).Bytes(), "rgb")
	fmt.Printf("%q\n", slab)
	// Output: "\x00\x00\x00rgb"
}

func ExampleCast() {
	fmt.Println(dataset.Cast[int16](tensor.Int16, []byte{1, 0, 0, 1}))
	// Output: [1 256]
}
