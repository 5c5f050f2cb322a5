package tensors_test

import (
	"context"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/tensors"
)

// Tensors of gorgonia become a dataset, and its batches tensors of gorgonia.
func Example() {
	points, err := tensors.FromDense(tensor.New(tensor.WithShape(4, 2), tensor.WithBacking([]float32{0, 1, 2, 3, 4, 5, 6, 7})))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := dataset.Tensors(dataset.Named("point", points), dataset.Named("label", []int64{0, 1, 0, 1}))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		x, y := tensors.Of(batch, "point"), tensors.Of(batch, "label")
		fmt.Println(x.Shape(), x.Dtype(), x.Data(), y.Data())
	}
	// Output:
	// (2, 2) float32 [0 1 2 3] [0 1]
	// (2, 2) float32 [4 5 6 7] [0 1]
}

// A sample becomes tensors of gorgonia one by one.
func ExampleDense() {
	ds, err := dataset.Tensors(dataset.Named("point", [][]float32{{0, 1}, {2, 3}}))
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	d := tensors.Dense(sample["point"])
	fmt.Println(d.Shape(), d.Data(), d.Dtype() == tensors.Dtype(dataset.Float32))
	// Output: (2) [2 3] true
}
