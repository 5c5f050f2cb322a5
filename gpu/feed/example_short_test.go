package feed_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

// The mean of each batch of 4. The last batch has only 2 samples: Pad adds 2 rows of zeros, and the mask keeps them out
// of the mean.
func ExamplePad() {
	g := gorgonia.NewGraph()
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"))
	mask := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("mask"))
	total := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(y, mask))))
	mean := gorgonia.Must(gorgonia.Div(total, gorgonia.Must(gorgonia.Sum(mask))))
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()

	l, err := loader.New(numbers(6), loader.BatchSize(4)) // y is 2, 4, 6, 8 and 10, 12
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	f, err := feed.New(vm, feed.Bind("y", y), feed.Pad(mask))
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range f.Run(l.Epoch(context.Background(), 0)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d samples, mask %v, mean %v\n", batch.Len(), mask.Value().Data(), mean.Value())
	}
	// Output:
	// 4 samples, mask [1 1 1 1], mean 5
	// 2 samples, mask [1 1 0 0], mean 11
}

// The sum of each batch of 4. Drop leaves out the last batch, which has only 2 samples.
func ExampleDrop() {
	g := gorgonia.NewGraph()
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"))
	sum := gorgonia.Must(gorgonia.Sum(y))
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()

	l, err := loader.New(numbers(10), loader.BatchSize(4)) // batches of 4, 4 and 2 samples
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	f, err := feed.New(vm, feed.Bind("y", y), feed.Drop())
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range f.Run(l.Epoch(context.Background(), 0)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("batch %d: %d samples, sum %v\n", batch.Number(), batch.Len(), sum.Value())
	}
	// Output:
	// batch 0: 4 samples, sum 20
	// batch 1: 4 samples, sum 52
}

// Without Pad and Drop, a short batch ends the loop with an error.
func ExampleErrShort() {
	g := gorgonia.NewGraph()
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"))
	sum := gorgonia.Must(gorgonia.Sum(y))
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()

	l, err := loader.New(numbers(6), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	f, err := feed.New(vm, feed.Bind("y", y))
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range f.Run(l.Epoch(context.Background(), 0)) {
		if errors.Is(err, feed.ErrShort) {
			fmt.Println(err)
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("batch %d: sum %v\n", batch.Number(), sum.Value())
	}
	// Output:
	// batch 0: sum 20
	// feed: batch 1 of epoch 0: 2 samples for 4 rows: short batch: choose Pad or Drop
}
