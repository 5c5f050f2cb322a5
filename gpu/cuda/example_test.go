package cuda_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/loader"
)

// The VM computes the sum of squares of each batch, directly in the device memory to which
// a Stage has uploaded it. Without the tag cuda, or without a device, it prints why.
func Example() {
	if err := run(context.Background()); errors.Is(err, gpu.ErrNoDevice) {
		fmt.Println(err)
	} else if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	if err := cuda.AddKernels(os.DirFS("kernels")); err != nil { // once in a program
		return err
	}
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, 4, 3)
	if err != nil {
		return err
	}
	square, err := gorgonia.Square(x.Node())
	if err != nil {
		return err
	}
	if square, err = cuda.Flush(square); err != nil { // a longer chain of such operations needs several
		return err
	}
	sum, err := gorgonia.Sum(square)
	if err != nil {
		return err
	}
	var value gorgonia.Value
	gorgonia.Read(sum, &value)

	vm, err := cuda.New(g)
	if err != nil {
		return err
	}
	defer vm.Close()
	device, err := vm.Device() // in the VM's context
	if err != nil {
		return err
	}
	defer device.Close()
	memory, err := device.Pinned()
	if err != nil {
		return err
	}
	defer memory.Close()
	ones := dataset.Func(12, dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{3}}},
		func(_ context.Context, i int, dst dataset.Slot) error {
			copy(dataset.Row[float32](dst, 0), []float32{1, 1, 1})
			return nil
		})
	l, err := loader.New(ones, loader.BatchSize(4), loader.Memory(memory))
	if err != nil {
		return err
	}
	defer l.Close()
	stage, err := gpu.NewStage(device, l)
	if err != nil {
		return err
	}
	defer stage.Close()
	for batch, err := range vm.Run(stage.Epoch(ctx, 0), x) {
		if err != nil {
			return err
		}
		fmt.Printf("batch %d: %v\n", batch.Number(), value) // the sum over 4×3 ones: 12
	}
	return nil
}

// Set refuses a column whose shape is not the node's, such as that of a short last batch.
func ExampleInput_Set() {
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, 4, 3)
	if err != nil { // gpu.ErrNoDevice without the tag cuda, or without a device
		fmt.Println(err)
		return
	}
	short := gpu.Column{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}}
	fmt.Println(x.Set(short)) // cuda: input "x": float32 of shape (2, 3), want float32 of shape (4, 3)
}

// Without a Stage, gorgonia copies the value of an input node to the device in every run.
func ExampleVM_RunAll() {
	if err := cuda.Available(); err != nil {
		fmt.Println(err)
		return
	}
	if err := cuda.AddKernels(os.DirFS("kernels")); err != nil {
		log.Fatal(err)
	}
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(2), gorgonia.WithName("x"))
	y := gorgonia.Must(gorgonia.Square(x))
	vm, err := cuda.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	for i := range 3 {
		v := tensor.New(tensor.WithBacking([]float32{float32(i), 2}))
		if err := gorgonia.Let(x, v); err != nil {
			log.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(y.Value()) // valid until Reset
		vm.Reset()
	}
}
