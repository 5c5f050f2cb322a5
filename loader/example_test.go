package loader_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// squares is a dataset of n samples. Sample i has the number i and its square.
func squares(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}, {Name: "square", Dtype: tensor.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		dataset.Set(dst, 1, float32(i*i))
		return nil
	})
}

// unlucky is a dataset of n samples, of which number 13 cannot be placed.
func unlucky(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}}
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
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}, {Name: "square", Dtype: tensor.Float32}}
	ds := dataset.Func(10, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		dataset.Set(dst, 1, float32(i*i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(4), loader.Prefetch(2))
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
func ExampleOnError() {
	l, err := loader.New(unlucky(16), loader.BatchSize(4), loader.OnError(loader.Skip, 10))
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
	l, err := loader.New(squares(4), loader.BatchSize(2), loader.Workers(0), loader.Memory(loader.Poison(loader.Heap{})))
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

// After every batch, the number of batches that remain.
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
		fmt.Println("batches left:", left)
	}
	// Output:
	// batches left: 2
	// batches left: 1
	// batches left: 0
}

// Three samples of one, two and three tokens, joined and padded with -1.
func ExamplePadded() {
	spec := dataset.Spec{{Name: "tokens", Dtype: tensor.Int32, Ragged: true}}
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
	// ⎡ 0  -1  -1⎤
	// ⎢10  11  -1⎥
	// ⎣20  21  22⎦
}

// A hook prints the samples that fail and are replaced.
func ExampleObserve() {
	trace := loader.Trace{
		SampleFailed: func(err *loader.SampleError) { fmt.Println("failed: sample", err.Index) },
	}
	l, err := loader.New(unlucky(16), loader.BatchSize(8), loader.Workers(0),
		loader.OnError(loader.Replace, loader.NoLimit), loader.Observe(trace))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Len(), "samples")
	}
	// Output:
	// 8 samples
	// failed: sample 13
	// 8 samples
}

// The statistics of every epoch.
func ExampleStats_Sub() {
	l, err := loader.New(squares(8), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for epoch := range 2 {
		before := l.Stats()
		for _, err := range l.Epoch(context.Background(), epoch) {
			if err != nil {
				log.Fatal(err)
			}
		}
		s := l.Stats().Sub(before)
		fmt.Println(s.Samples, "samples in", s.Batches, "batches")
	}
	// Output:
	// 8 samples in 2 batches
	// 8 samples in 2 batches
}

// A step centres the values of every batch, and adds their mean as a field. Another
// one mixes images: loader.Collate(transform.MixUp(0.2, 1000)).
func ExampleCollate() {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}}
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
	}, dataset.Field{Name: "mean", Dtype: tensor.Float32})
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
	spec := dataset.Spec{{Name: "tokens", Dtype: tensor.Int32, Ragged: true}}
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
	// ⎡ 0   0   0   7⎤
	// ⎣ 7   8   9  10⎦
	//
	// ⎡0  0  0  1⎤
	// ⎣1  1  1  1⎦
}

// An observer finds the slowest stage of every sample.
func ExampleTrace() {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}}
	ds := dataset.Func(3, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(5 * time.Millisecond)
		dst.Stage(dataset.StageDecode)
		time.Sleep(time.Duration(150*i) * time.Millisecond)
		dataset.Set(dst, 0, float32(i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(0), loader.BatchSize(2), loader.Observe(loader.Trace{
		SampleDone: func(s loader.SampleInfo) {
			slowest := slices.MaxFunc(s.Stages, func(a, b loader.StageSpan) int { return cmp.Compare(a.Took, b.Took) })
			fmt.Printf("sample %d in row %d of batch %d: %s\n", s.Index, s.Row, s.Batch.Batch, slowest.Name)
		},
		BatchEnded: func(b loader.BatchInfo, took time.Duration) { fmt.Printf("batch %d was used\n", b.Batch) },
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// sample 0 in row 0 of batch 0: read
	// sample 1 in row 1 of batch 0: decode
	// batch 0 was used
	// sample 2 in row 0 of batch 1: decode
	// batch 1 was used
}

// The loader adds workers, beyond the number of processors, because reads take long.
func ExampleAuto() {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}}
	ds := dataset.Func(1<<20, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(5 * time.Millisecond) // a server that is far away
		dataset.Set(dst, 0, float32(i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(loader.Auto), loader.Budget(64<<20), loader.BatchSize(8))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if tuning := l.Stats().Tuning; tuning.Workers > runtime.GOMAXPROCS(0) {
			fmt.Println("more workers than processors")
			break
		}
	}
	// Output:
	// more workers than processors
}
