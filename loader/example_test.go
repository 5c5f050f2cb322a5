package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// squares is a dataset of n samples: i, and its square.
func squares(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}, {Name: "square", Dtype: tensor.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 13 {
			return fmt.Errorf("bad luck")
		}
		dataset.Set(dst, 0, float32(i))
		dataset.Set(dst, 1, float32(i*i))
		return nil
	})
}

func ExampleNew() {
	l, err := loader.New(squares(10), loader.Workers(2), loader.BatchSize(4), loader.Prefetch(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	n, err := l.Len(0)
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

func ExampleNew_options() {
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

func ExampleLoader_Epochs() {
	l, err := loader.New(squares(4), loader.BatchSize(2), loader.Shuffle(true), loader.Seed(1), loader.DropLast(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epochs(context.Background(), 0, 3) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("epoch", batch.Epoch(), "batch", batch.Number(), "samples", batch.Len())
	}
	// Output:
	// epoch 0 batch 0 samples 2
	// epoch 0 batch 1 samples 2
	// epoch 1 batch 0 samples 2
	// epoch 1 batch 1 samples 2
	// epoch 2 batch 0 samples 2
	// epoch 2 batch 1 samples 2
}

func ExampleLoader_From() {
	l, err := loader.New(squares(6), loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	var state []byte
	for batch := range l.Epoch(ctx, 0) {
		state, _ = json.Marshal(batch.Position()) // goes into the checkpoint
		break
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

func ExampleOnError() {
	l, err := loader.New(squares(16), loader.BatchSize(4), loader.OnError(loader.Skip, 10))
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

func ExampleBatch_Keep() {
	l, err := loader.New(squares(6), loader.BatchSize(2), loader.Workers(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var best *loader.Batch
	for batch := range l.Epoch(context.Background(), 0) {
		if batch.Number() == 1 {
			best = batch
			release := batch.Keep()
			defer release()
		}
	}
	fmt.Println(loader.Values[float32](best, "square"))
	// Output: [4 9]
}

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

// In a test, a Poison shows what is kept by mistake.
func ExamplePoison() {
	l, err := loader.New(squares(4), loader.BatchSize(2), loader.Workers(0), loader.Memory(loader.Poison(loader.Heap{})))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var wrong []float32
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		wrong = loader.Values[float32](batch, "x") // belongs to the loop body
		fmt.Println(wrong)
	}
	fmt.Println(wrong)
	// Output:
	// [0 1]
	// [2 3]
	// [NaN NaN]
}

func ExampleLoader_Left() {
	l, err := loader.New(squares(10), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		left, err := l.Left(batch.Position())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(left, "batches to go")
	}
	// Output:
	// 2 batches to go
	// 1 batches to go
	// 0 batches to go
}

func ExamplePadded() {
	words := dataset.Spec{{Name: "words", Dtype: tensor.Int32, Ragged: true}}
	ds := dataset.Func(3, words, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Grow[int32](dst, 0, i+1) {
			dataset.Row[int32](dst, 0)[k] = int32(10*i + k)
		}
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(3))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch := range l.Epoch(context.Background(), 0) {
		fmt.Println(batch.Tensor("words").Data(), batch.Offsets("words"))
		fmt.Println(loader.Padded(batch, "words", int32(-1)))
	}
	// Output:
	// [0 10 11 20 21 22] [0 1 3 6]
	// ⎡ 0  -1  -1⎤
	// ⎢10  11  -1⎥
	// ⎣20  21  22⎦
}

func ExampleObserve() {
	trace := loader.Trace{
		SampleFailed: func(err *loader.SampleError) { fmt.Println("failed:", err.Index) },
	}
	l, err := loader.New(squares(16), loader.BatchSize(8), loader.Workers(0),
		loader.OnError(loader.Replace, loader.NoLimit), loader.Observe(trace))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Len())
	}
	// Output:
	// 8
	// failed: 13
	// 8
}

func ExampleStats_Sub() {
	l, err := loader.New(squares(8), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for epoch := range 2 {
		before := l.Stats()
		for range l.Epoch(context.Background(), epoch) {
		}
		s := l.Stats().Sub(before)
		fmt.Println(s.Samples, "samples in", s.Batches, "batches")
	}
	// Output:
	// 8 samples in 2 batches
	// 8 samples in 2 batches
}
