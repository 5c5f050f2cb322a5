package loader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// squares is a dataset of n samples. Sample i has the number i and its square.
func squares(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}, {Name: "square", Dtype: dataset.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		dataset.Set(dst, 1, float32(i*i))
		return nil
	})
}

// unlucky is a dataset of n samples, of which number 13 cannot be placed.
func unlucky(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 13 {
			return errors.New("bad luck")
		}
		dataset.Set(dst, 0, float32(i))
		return nil
	})
}

// Ten samples, each a number and its square, in batches of four.
func ExampleNew() {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}, {Name: "square", Dtype: dataset.Float32}}
	ds := dataset.Func(10, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		dataset.Set(dst, 1, float32(i*i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(4), loader.InFlight(5))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	n, err := l.Len(l.Position(0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "batches")
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		x, y := batch.Tensor("x"), batch.Tensor("square")
		fmt.Println(x.Data(), y.Data())
	}
	// Output:
	// 3 batches
	// [0 1 2 3] [0 1 4 9]
	// [4 5 6 7] [16 25 36 49]
	// [8 9] [64 81]
}

// The error lists all options that are wrong.
func ExampleNew_invalidOptions() {
	_, err := loader.New(squares(10), loader.Workers(-1), loader.BatchSize(0))
	fmt.Println(err)
	// Output:
	// loader: Workers(-1): want 0 or more
	// loader: BatchSize(0): want 1 or more
}

func ExampleLoader_Spec() {
	l, err := loader.New(squares(10))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, field := range l.Spec() {
		fmt.Println(field.Name, field.Dtype)
	}
	// Output:
	// x float32
	// square float32
}

// Three epochs, each in an order of its own.
func ExampleLoader_Epochs() {
	l, err := loader.New(squares(4), loader.BatchSize(2), loader.Shuffle(true), loader.Seed(1))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epochs(context.Background(), 0, 3) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("epoch", batch.Epoch(), "batch", batch.Number(), "samples", batch.Indices())
	}
	// Output:
	// epoch 0 batch 0 samples [0 2]
	// epoch 0 batch 1 samples [1 3]
	// epoch 1 batch 0 samples [2 3]
	// epoch 1 batch 1 samples [1 0]
	// epoch 2 batch 0 samples [3 2]
	// epoch 2 batch 1 samples [1 0]
}

// A position is saved, and the epoch resumes there.
func ExampleLoader_From() {
	l, err := loader.New(squares(6), loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	var state []byte // goes into the checkpoint
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if state, err = json.Marshal(batch.Position()); err != nil {
			log.Fatal(err)
		}
		break // the program is interrupted after the first batch
	}
	fmt.Println(string(state))

	var p loader.Position
	if err := json.Unmarshal(state, &p); err != nil {
		log.Fatal(err)
	}
	for batch, err := range l.From(ctx, p, 1) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Indices())
	}
	// Output:
	// {"version":1,"epoch":0,"draw":2,"seed":0,"samples":6,"order":"Sequential(6 samples)"}
	// [2 3]
	// [4 5]
}

// Sample 13 cannot be placed, so its batch has three samples.
func ExampleSkip() {
	l, err := loader.New(unlucky(16), loader.BatchSize(4), loader.Skip(10))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Indices())
	}
	for _, failure := range l.Stats().Failures {
		fmt.Println(failure)
	}
	// Output:
	// [0 1 2 3]
	// [4 5 6 7]
	// [8 9 10 11]
	// [12 14 15]
	// loader: sample 13, epoch 0, batch 3: bad luck
}

// The number of batches of an epoch, and after every batch the number of those that remain.
func ExampleLoader_Len() {
	l, err := loader.New(squares(10), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	all, err := l.Len(l.Position(0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("batches:", all)
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		left, err := l.Len(batch.Position())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("batches left:", left)
	}
	// Output:
	// batches: 3
	// batches left: 2
	// batches left: 1
	// batches left: 0
}
