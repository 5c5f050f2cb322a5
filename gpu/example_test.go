package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"golang.org/x/sync/errgroup"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
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
	device, err := gpu.Open(gpu.Ordinal(0), gpu.Limit(1<<30))
	switch {
	case errors.Is(err, gpu.ErrNoDevice):
		fmt.Println("this machine has none:", err)
		return
	case err != nil: // it has one that cannot be used
		log.Fatal(err)
	}
	defer device.Close()
	fmt.Println(device)
}

func ExampleAuto() {
	memory, err := gpu.Auto(gpu.Limit(1 << 30))
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	// memory.String() says which memory it is, and why.
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

// Training on a device: the next batch is uploaded while one is in use.
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
	stage, err := gpu.NewStage(device, l, gpu.Buffers(3), gpu.Fields("x"))
	if err != nil {
		log.Fatal(err)
	}
	defer stage.Close()
	fmt.Println(device, "takes", memory.Bytes(), "bytes of", memory)

	for batch, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		x := batch.Column("x")
		fmt.Println(batch.Number(), batch.Len(), x.Pointer, x.Shape, x.Dtype)
	}
	s := stage.Stats()
	fmt.Printf("%.0f %% of the upload was hidden\n", 100*s.HiddenShare())
}

// Several devices: each has a loader, which takes its share of every epoch, memory
// and a stage, and a goroutine that trains on it.
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
		share, err := sampler.Shard(sampler.Shuffle(ds.Len(), 1), rank, devices, sampler.PadToEven)
		if err != nil {
			return err
		}
		l, err := loader.New(ds, loader.BatchSize(128), loader.Sampler(share), loader.Memory(memory))
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
			_ = batch.Column("x").Pointer // for this device's kernels
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

// A kernel may hang: what Close would wait for without end, Shutdown gives up.
func ExampleStage_Shutdown() {
	end := func(stage *gpu.Stage) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return stage.Shutdown(ctx)
	}
	_ = end
}

// Kernels that run on after the loop body: the batch stays until they are done.
func ExampleBatch_UsedBy() {
	step := func(stage *gpu.Stage, stream uintptr, launch func(x gpu.Column)) error {
		for batch, err := range stage.Epoch(context.Background(), 0) {
			if err != nil {
				return err
			}
			launch(batch.Column("x"))
			if err := batch.UsedBy(stream); err != nil {
				return err
			}
		}
		return nil
	}
	_ = step
}

// A library that has made a context of its own uses page-locked memory and a Stage in it.
func ExampleContext() {
	open := func(handle uintptr) (*gpu.Device, error) { // its CUcontext
		return gpu.Open(gpu.Ordinal(0), gpu.Context(handle))
	}
	_ = open
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
