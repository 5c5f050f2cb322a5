// Penstock is this library's side of the comparison with its peers: it does their
// work over the same data, with their arguments, and prints the same lines.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/loader"
)

func main() {
	o := options{folder: filepath.Join("..", "..", "..", "shared", "photos")}
	flag.StringVar(&o.work, "work", "eval", "eval, train, preprocessed or cifar; with -study also a format, see formats.go")
	flag.IntVar(&o.workers, "workers", 2, "workers")
	flag.IntVar(&o.batch, "batch", 128, "samples of a batch")
	flag.IntVar(&o.epochs, "epochs", 3, "measured epochs, after a first one that warms up")
	flag.IntVar(&o.samples, "samples", 1024, "samples of an epoch, which goes over the data again and again")
	flag.BoolVar(&o.pixels, "pixels", false, "write the evaluation tensors of all photos to standard output")
	flag.StringVar(&o.study, "study", "", "print records of this study, as package result describes them, instead of lines")
	flag.StringVar(&o.data, "data", "", "what a record calls the data")
	flag.StringVar(&o.model, "model", "", "what a record calls the model")
	flag.StringVar(&o.simulated, "simulated", "", "what of a record is simulated")
	flag.StringVar(&o.help, "help", result.HelpOn, "with -study: on or off, for loader.Help")
	flag.BoolVar(&o.shuffle, "shuffle", false, "with -study: in random order")
	flag.Float64Var(&o.consumer, "consumer", 0, "with -study: seconds that the consumer takes for a batch")
	flag.Float64Var(&o.speed, "speed", 0, "with -study: samples per second of the consumer")
	data := flag.String("make", "", "make the data of a benchmark, cifar100:N, volumes:N, items:N or photos:N, print its folder, and end")
	machine := flag.Bool("machine", false, "print what a record says of the machine and the versions, and end")
	flag.Parse()
	if flag.NArg() > 0 {
		o.folder = flag.Arg(0)
	}
	do := run
	switch {
	case *machine:
		do = describe
	case *data != "":
		do = func(ctx context.Context, _ options, w io.Writer) error { return makeData(ctx, *data, w) }
	case o.study == string(result.Inference):
		do = inference
	case o.study != "":
		do = records
	}
	if err := do(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	folder, work                    string
	workers, batch, epochs, samples int
	pixels                          bool

	study, data, model, simulated, help string
	shuffle                             bool
	consumer, speed                     float64
}

func run(ctx context.Context, o options, w io.Writer) error {
	if o.pixels {
		o.work = "eval"
	}
	ds, err := prepared(o)
	if err != nil {
		return err
	}
	if !o.pixels {
		if ds, err = repeated(ds, o.samples); err != nil {
			return err
		}
	}

	begun := time.Now()
	l, err := loader.New(ds, loader.Workers(o.workers), loader.BatchSize(o.batch), loader.Shuffle(o.work == "train"))
	if err != nil {
		return err
	}
	defer l.Close()
	if o.pixels {
		return writePixels(ctx, l, w)
	}
	lines := json.NewEncoder(w)
	for epoch := range o.epochs + 1 {
		measured := measure
		if epoch == 0 {
			measured = warmUp
		} else {
			begun = time.Now()
		}
		result, err := measured(ctx, l, o, epoch, begun)
		if err != nil {
			return err
		}
		if err := lines.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// A line is what is printed of an epoch. The first one, number 0, has no
// throughput, the others have no memory and no mean.
type line struct {
	Epoch           int               `json:"epoch"`
	Work            string            `json:"work"`
	Workers         int               `json:"workers"`
	Batch           int               `json:"batch"`
	FirstMs         float64           `json:"first_ms"`
	ImagesPerSecond float64           `json:"images_per_second,omitempty"`
	CPUMsPerImage   float64           `json:"cpu_ms_per_image,omitempty"`
	MemoryMB        float64           `json:"memory_mb,omitempty"`
	Mean            float64           `json:"mean,omitempty"`
	Versions        map[string]string `json:"versions"`
}

func newLine(o options, epoch int) line {
	return line{
		Epoch: epoch, Work: o.work, Workers: o.workers, Batch: o.batch,
		Versions: map[string]string{"go": runtime.Version()},
	}
}

// warmUp is the first epoch, from the making of the loader on. It looks at a
// batch, which the others do not.
func warmUp(ctx context.Context, l *loader.Loader, o options, epoch int, begun time.Time) (line, error) {
	result := newLine(o, epoch)
	batches, err := l.Len(epoch)
	if err != nil {
		return line{}, err
	}
	for batch, err := range l.Epoch(ctx, epoch) {
		if err != nil {
			return line{}, err
		}
		if batch.Number() == 0 {
			result.FirstMs = milliseconds(time.Since(begun))
		}
		if batch.Number() == batches/2 {
			if result.MemoryMB, err = memoryMB(); err != nil {
				return line{}, err
			}
			sum := 0.0
			values := loader.Values[float32](batch, "image")
			for _, v := range values {
				sum += float64(v)
			}
			result.Mean = sum / float64(len(values))
		}
	}
	return result, nil
}

func measure(ctx context.Context, l *loader.Loader, o options, epoch int, begun time.Time) (line, error) {
	result := newLine(o, epoch)
	cpu, err := processorTime()
	if err != nil {
		return line{}, err
	}
	n := 0
	for batch, err := range l.Epoch(ctx, epoch) {
		if err != nil {
			return line{}, err
		}
		if n == 0 {
			result.FirstMs = milliseconds(time.Since(begun))
		}
		n += batch.Len()
	}
	took := time.Since(begun)
	after, err := processorTime()
	if err != nil {
		return line{}, err
	}
	result.ImagesPerSecond = float64(n) / took.Seconds()
	result.CPUMsPerImage = milliseconds(after-cpu) / float64(n)
	return result, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func writePixels(ctx context.Context, l *loader.Loader, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		if err := binary.Write(buffered, binary.LittleEndian, loader.Values[float32](batch, "image")); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
