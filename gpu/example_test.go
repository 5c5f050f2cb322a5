package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"golang.org/x/sync/errgroup"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// counting is a dataset of n samples, whose field x is the sample's index.
func counting(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float32(i))
		return nil
	})
}

// A program that also works without a device tells a missing device from a broken one.
func ExampleOpen() {
	device, err := gpu.Open(gpu.Ordinal(0))
	switch {
	case errors.Is(err, gpu.ErrNoDevice):
		fmt.Println("computing on the processor:", err)
		return
	case err != nil: // there is a device, but it cannot be used
		log.Fatal(err)
	}
	defer device.Close()
	fmt.Println(device) // such as: NVIDIA H200 (device 0, CUDA 12.4)
}

// The loader's batches are in page-locked memory if the machine has a CUDA device, and in
// Go's heap memory otherwise. The rest of the program is the same.
func ExampleAuto() {
	memory, free, err := gpu.Auto()
	if err != nil {
		log.Fatal(err)
	}
	defer free()      // after the loader
	log.Print(memory) // which memory it is, and why
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

// While the loop body uses a batch on the device, the Stage uploads the next ones.
func ExampleStage() {
	device, err := gpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	memory, err := device.Pinned()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	l, err := loader.New(counting(1000), loader.BatchSize(128), loader.Memory(memory))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	stage, err := gpu.NewStage(device, l, gpu.Buffers(3))
	if err != nil {
		log.Fatal(err)
	}
	defer stage.Close()
	fmt.Printf("%d bytes of %v\n", memory.Bytes(), memory)

	for batch, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		x := batch.Column("x") // pass x.Pointer to a kernel, and wait for the kernel here
		fmt.Printf("batch %d: %v of shape %v at %#x\n", batch.Number(), x.Dtype, x.Shape, x.Pointer)
	}
}

// With two devices, each rank has a goroutine, a device, page-locked memory, a loader
// over its shard of every epoch, and a Stage.
func ExampleStage_devices() {
	const devices = 2
	train := func(ctx context.Context, rank int) error {
		device, err := gpu.Open(gpu.Ordinal(rank))
		if err != nil {
			return err
		}
		defer device.Close()
		memory, err := device.Pinned()
		if err != nil {
			return err
		}
		defer memory.Close()
		ds := counting(1000)
		shard, err := sampler.Shard(sampler.Shuffle(ds.Len(), 1), rank, devices, sampler.PadToEven)
		if err != nil {
			return err
		}
		l, err := loader.New(ds, loader.BatchSize(128), loader.Sampler(shard), loader.Memory(memory))
		if err != nil {
			return err
		}
		defer l.Close()
		stage, err := gpu.NewStage(device, l)
		if err != nil {
			return err
		}
		defer stage.Close()
		for batch, err := range stage.Epoch(ctx, 0) {
			if err != nil {
				return err
			}
			x := batch.Column("x") // in the memory of this rank's device
			fmt.Printf("rank %d, batch %d: %d samples at %#x\n", rank, batch.Number(), batch.Len(), x.Pointer)
		}
		return nil
	}
	group, ctx := errgroup.WithContext(context.Background())
	for rank := range devices {
		group.Go(func() error { return train(ctx, rank) })
	}
	if err := group.Wait(); err != nil {
		log.Fatal(err)
	}
}

// The kernel may still run when the loop body has ended: UsedBy keeps the batch's memory
// until the kernel is done.
func ExampleBatch_UsedBy() {
	var (
		stage  *gpu.Stage                         // see the example of Stage
		stream uintptr                            // a CUstream of the device's context
		launch func(stream uintptr, x gpu.Column) // launches a kernel and returns at once
	)
	for batch, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		launch(stream, batch.Column("x"))
		if err := batch.UsedBy(stream); err != nil {
			log.Fatal(err)
		}
	}
}

// Another library computes in a CUDA context of its own. Page-locked memory and Stages of
// this Device use the same context.
func ExampleContext() {
	var handle uintptr // the CUcontext of the other library, on device 0

	device, err := gpu.Open(gpu.Ordinal(0), gpu.Context(handle))
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close() // leaves the context open
	memory, err := device.Pinned()
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	fmt.Println(memory)
}

// The driver's error code decides what to do, such as trying again with smaller batches.
func ExampleDriverError() {
	err := fmt.Errorf("gpu: 100 bytes of page-locked memory: %w", &gpu.DriverError{
		Call: "cuMemHostAlloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Message: "out of memory",
	})
	var cause *gpu.DriverError
	if errors.As(err, &cause) {
		fmt.Println(cause.Call, cause.Code, cause.Name)
	}
	// Output: cuMemHostAlloc 2 CUDA_ERROR_OUT_OF_MEMORY
}
