package feed_test

import (
	"context"
	"fmt"
	"log"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

// points is a dataset of n samples: x is (i+1, i+1, i+1) and y is 2(i+1).
func points(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "x", Dtype: dataset.Float64, Shape: dataset.Shape{3}},
		{Name: "y", Dtype: dataset.Float64},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		v := float64(i + 1)
		copy(dataset.Row[float64](dst, 0), []float64{v, v, v})
		dataset.Set(dst, 1, 2*v)
		return nil
	})
}

// train fits y = x·w by gradient descent, for one epoch.
func train(ctx context.Context) error {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(4, 3), gorgonia.WithName("x"))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"))
	w := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	off := gorgonia.Must(gorgonia.Sub(gorgonia.Must(gorgonia.Mul(x, w)), y))
	loss := gorgonia.Must(gorgonia.Mean(gorgonia.Must(gorgonia.Square(off))))
	var value gorgonia.Value
	gorgonia.Read(loss, &value)
	if _, err := gorgonia.Grad(loss, w); err != nil {
		return err
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(w)) // one VM for all steps
	defer vm.Close()

	memory, free, err := gpu.Auto() // page-locked where there is a CUDA device
	if err != nil {
		return err
	}
	defer free() // after the loader
	l, err := loader.New(points(10), loader.BatchSize(4), loader.Memory(memory))
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := feed.New(vm, feed.Bind("x", x), feed.Bind("y", y), feed.Drop())
	if err != nil {
		return err
	}
	solver := gorgonia.NewVanillaSolver(gorgonia.WithLearnRate(0.02))
	for batch, err := range f.Run(l.Epoch(ctx, 0)) {
		if err != nil {
			return err
		}
		// The VM has run over batch; the graph's values are those of batch.
		fmt.Printf("batch %d: loss %.2f\n", batch.Number(), value.Data())
		if err := solver.Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{w})); err != nil {
			return err
		}
	}
	return nil
}

// Example trains a linear model for one epoch. Its batches are in page-locked memory if
// there is a CUDA device, and in Go's heap memory otherwise. The VM computes on the
// processor in both cases.
func Example() {
	if err := train(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// batch 0: loss 30.00
	// batch 1: loss 1.74
}
