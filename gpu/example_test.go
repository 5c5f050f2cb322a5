package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// counting is a dataset of n samples: the sample's number.
func counting(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		return nil
	})
}

func ExampleOpen() {
	_, err := gpu.Open(gpu.Library("/nowhere/libcuda.so.1"), gpu.Ordinal(0))
	fmt.Println(errors.Is(err, gpu.ErrNoDevice))
	// Output: true
}

func ExampleAuto() {
	memory, err := gpu.Auto(gpu.Library("/nowhere/libcuda.so.1"), gpu.Limit(1<<30))
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	// memory.String() says that it is Go's memory, and why.
	l, err := loader.New(counting(4), loader.BatchSize(4), loader.Memory(memory))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Tensor("x").Data())
	}
	// Output: [0 1 2 3]
}



func ExampleDriverError() {
	err := fmt.Errorf("gpu: 100 bytes: %w", &gpu.DriverError{
		Call: "cuMemHostAlloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Message: "out of memory",
	})
	var cause *gpu.DriverError
	if errors.As(err, &cause) {
		fmt.Println(cause)
	}
	// Output: cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory
}
