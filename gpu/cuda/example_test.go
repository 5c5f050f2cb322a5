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

// The sum of every batch, computed where a Stage has put it. What it prints depends
// on the build and the machine.
func Example() {
	if err := run(context.Background()); errors.Is(err, gpu.ErrNoDevice) {
		fmt.Println("nothing to run on:", err)
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
	if square, err = cuda.Flush(square); err != nil { // before long chains of such operations
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
	device, err := vm.Device(gpu.Limit(1 << 30)) // in the VM's context
	if err != nil {
		return err
	}
	defer device.Close()
	memory, err := device.Pinned()
	if err != nil {
		return err
	}
	defer memory.Close()
	ones := dataset.Func(12, dataset.Spec{{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{3}}},
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
		fmt.Println(batch.Number(), value) // 12 each
	}
	return nil
}

// A column of another shape, such as a short last batch, is refused.
func ExampleInput_Set() {
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, 4, 3)
	if err != nil {
		fmt.Println(errors.Is(err, gpu.ErrNoDevice))
		return
	}
	fmt.Println(x.Set(gpu.Column{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{2, 3}}) != nil, x.Node().Shape())
}

// gorgonia copies a bound value to the device when the VM runs.
func ExampleVM_RunAll() {
	if err := cuda.Available(); err != nil {
		fmt.Println("nothing to run on:", err)
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
		fmt.Println(y.Value()) // before the Reset
		vm.Reset()
	}
}
