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

// The last batch has 2 samples for 4 rows: the mask keeps the others out of the mean.
func ExampleFeed_Run() {
	g := gorgonia.NewGraph()
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"))
	mask := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("mask"))
	total := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(y, mask))))
	mean := gorgonia.Must(gorgonia.Div(total, gorgonia.Must(gorgonia.Sum(mask))))
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()

	l, err := loader.New(numbers(6), loader.BatchSize(4))
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
		fmt.Println(batch.Len(), mean.Value())
	}
	// Output:
	// 4 5
	// 2 11
}

func ExampleDrop() {
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
	for name, option := range []feed.Option{feed.Drop(), {}} {
		f, err := feed.New(vm, feed.Bind("y", y), option)
		if err != nil {
			log.Fatal(err)
		}
		for _, err := range f.Run(l.Epoch(context.Background(), 0)) {
			if err != nil {
				fmt.Println(name, "short:", errors.Is(err, feed.ErrShort))
				break
			}
			fmt.Println(name, sum.Value())
		}
	}
	// Output:
	// 0 20
	// 1 20
	// 1 short: true
}
