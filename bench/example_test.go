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
	run := bench.Run{Study: result.Loading, Dataset: ds,
		Config: result.Config{Batch: 4, Workers: 2, Data: "photos", ConsumerSeconds: 0.001, Simulated: slow.String()}}
	measured, err := run.Once(ctx)
	if err != nil {
		log.Fatal(err)
	}
	record, err := bench.Blank(ctx)
	if err != nil {
		log.Fatal(err)
	}
	record.Study, record.Config, record.Measured = run.Study, run.Config, measured
	fmt.Println(record.Side, record.Config.Simulated, len(measured.Waits), "batches", record.Check())
	log.Println(record.Machine, analysis.NewRhythm(measured.Waits, 2).Peaks())
	// Output: penstock files throttled to 1ms and 1000 MB/s 4 batches <nil>
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
