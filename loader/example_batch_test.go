package loader_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A kept batch is valid after the loop.
func ExampleBatch_Keep() {
	l, err := loader.New(squares(6), loader.BatchSize(2), loader.Workers(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var kept *loader.Batch
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if batch.Number() == 1 {
			release := batch.Keep()
			defer release()
			kept = batch
		}
	}
	fmt.Println(loader.Values[float32](kept, "square"))
	// Output: [4 9]
}

// Copies of all batches are valid after the loop.
func ExampleBatch_Copy() {
	l, err := loader.New(squares(6), loader.BatchSize(2), loader.Workers(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var all []*loader.Batch
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, batch.Copy())
	}
	for _, batch := range all {
		fmt.Println(loader.Values[float32](batch, "square"))
	}
	// Output:
	// [0 1]
	// [4 9]
	// [16 25]
}

// A slice is used after its loop body by mistake. Poison shows that: its values are
// NaN.
func ExamplePoison() {
	l, err := loader.New(squares(4), loader.BatchSize(2), loader.Workers(0), loader.Poison(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var x []float32
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		x = loader.Values[float32](batch, "x") // belongs to the loop body
		fmt.Println(x)
	}
	fmt.Println(x) // a mistake: x is no longer valid
	// Output:
	// [0 1]
	// [2 3]
	// [NaN NaN]
}

// Three samples of one, two and three tokens, joined and padded with -1.
func ExamplePadded() {
	spec := dataset.Spec{{Name: "tokens", Dtype: dataset.Int32, Ragged: true}}
	ds := dataset.Func(3, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		tokens := dataset.Grow[int32](dst, 0, i+1)
		for k := range tokens {
			tokens[k] = int32(10*i + k)
		}
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(3))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("elements", batch.Tensor("tokens").Data())
		fmt.Println("offsets", batch.Offsets("tokens"))
		fmt.Println(loader.Padded(batch, "tokens", int32(-1)))
	}
	// Output:
	// elements [0 10 11 20 21 22]
	// offsets [0 1 3 6]
	// [[0 -1 -1] [10 11 -1] [20 21 22]]
}

// A step centres the values of every batch, and adds their mean as a field. Another
// one mixes images: loader.Collate(transform.MixUp(0.2, 1000)).
func ExampleCollate() {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	ds := dataset.Func(6, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		return nil
	})
	centre := dataset.BatchFunc(func(dst, _ dataset.Columns) error {
		x, mean := dataset.Column[float32](dst, 0), dataset.Column[float32](dst, 1)
		for _, v := range x {
			mean[0] += v / float32(dst.Len())
		}
		for row := range x {
			mean[row] = mean[0]
			x[row] -= mean[0]
		}
		return nil
	}, dataset.Field{Name: "mean", Dtype: dataset.Float32})
	l, err := loader.New(ds, loader.BatchSize(3), loader.Collate(centre))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Tensor("x").Data(), batch.Tensor("mean").Data())
	}
	// Output:
	// [-1 0 1] [1 1 1]
	// [-1 0 1] [4 4 4]
}

// A model compiled for 4 tokens gets them on the right, with an attention mask.
func ExampleMask() {
	spec := dataset.Spec{{Name: "tokens", Dtype: dataset.Int32, Ragged: true}}
	ds := dataset.Func(2, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Grow[int32](dst, 0, 1+4*i) {
			dataset.Row[int32](dst, 0)[k] = int32(7 + k)
		}
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		options := []loader.PadOption{loader.PadTo(4), loader.PadLeft()}
		fmt.Println(loader.Padded(batch, "tokens", int32(0), options...))
		fmt.Println(loader.Mask[int64](batch, "tokens", options...))
	}
	// Output:
	// [[0 0 0 7] [7 8 9 10]]
	// [[0 0 0 1] [1 1 1 1]]
}
