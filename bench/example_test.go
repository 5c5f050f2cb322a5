package bench_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// The waits for every batch of made-up photos, kept as a record.
func Example() {
	ctx := context.Background()
	root, err := data.Root()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := data.Photos(ctx, root, 16)
	if err != nil {
		log.Fatal(err)
	}
	slow := bench.Throttle{Latency: time.Millisecond, BytesPerSecond: 1e9}
	photos, err := dataset.ImageFolder(slow.FS(os.DirFS(dir)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(photos, transform.Eval(64))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	stop := bench.Watch(ctx, 100*time.Millisecond)
	measured, err := bench.Epoch(ctx, l.Epoch(ctx, 0), bench.Busy(time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	measured.Usage = stop()
	record, err := bench.Blank(ctx)
	if err != nil {
		log.Fatal(err)
	}
	record.Study, record.Measured = result.Loading, measured
	record.Config = result.Config{Batch: 4, Workers: 2, Data: "photos", ConsumerSeconds: 0.001, Simulated: slow.String()}
	fmt.Println(record.Side, record.Config.Simulated, len(measured.Waits), "batches", record.Check())
	log.Println(record.Machine, analysis.NewRhythm(measured.Waits, 2).Peaks(), len(measured.Usage))
	// Output: penstock files throttled to 1ms and 1000 MB/s 4 batches <nil>
}

// Where an epoch spends its time, by the loop and by the workers.
func ExampleProfiled() {
	spec := data.Picture(8)
	pictures := dataset.Func(8, spec, func(context.Context, int, dataset.Slot) error { return nil })
	l, err := loader.New(pictures, loader.Workers(1), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	device := make([]float32, 4*spec[0].Shape.TotalSize())
	measured, err := bench.Epoch(ctx, l.Epoch(ctx, 0), func(_ context.Context, b *loader.Batch) error {
		copy(device, loader.Values[float32](b, "image"))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, stage := range bench.Profiled(measured, result.Epoch, l.Stats()).Stages {
		fmt.Println(stage.Name, stage.Calls)
	}
	// Output:
	// loop: wait 2
	// loop: copy 2
	// worker: sample 0
	// worker: wait for memory 2
}

// A device of given speed in place of one that is not at hand.
func ExampleDevice() {
	spec := data.Picture(8)
	pictures := dataset.Func(8, spec, func(context.Context, int, dataset.Slot) error { return nil })
	l, err := loader.New(pictures, loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	device := bench.Device{SamplesPerSecond: 1000, PerBatch: time.Millisecond, BytesPerSecond: 1e6}
	ctx := context.Background()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		transfer, compute, err := device.Run(ctx, batch, batch.Len()*spec[0].Bytes())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(device, transfer >= 3*time.Millisecond, compute >= 5*time.Millisecond)
	}
	// Output:
	// device of 1000 samples/s true true
	// device of 1000 samples/s true true
}

// Every net gives each picture its classes' numbers.
func Example_model() {
	for _, kind := range model.Kinds() {
		net, err := kind.New(2, 16)
		if err != nil {
			log.Fatal(err)
		}
		if err := net.Infer(make([]float32, 2*3*16*16)); err != nil {
			log.Fatal(err)
		}
		fmt.Println(kind.Name, kind.Transformer, net.Parameters(), len(net.Logits())/model.Classes)
		if err := net.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// conv-small false 9332 2
	// conv-medium false 30084 2
	// resnet-small false 224068 2
	// mixer true 153524 2
	// vit true 219172 2
}
