// Penstock is this library's side of the comparison with other libraries. It does the same work over
// the same data, takes the same arguments and prints the same lines as their programs.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/loader"
)

// options are the arguments that all sides take.
type options struct {
	folder, work    string
	packed          string // photos are packed beforehand: fast or small
	serve           string // the folder, too
	size            int
	samples, epochs int
	shuffle         bool
	study           string
	speed           float64
	batches         []int // of inference
	config          result.Config
}

func main() {
	var o options
	c := &o.config
	flag.StringVar(&o.work, "work", "eval", "data to read and steps to apply, see works.go")
	flag.IntVar(&o.size, "size", 224, "width and height of an image, in pixels")
	flag.IntVar(&o.samples, "samples", 1024, "samples per epoch; the data is repeated if it has fewer")
	flag.IntVar(&o.epochs, "epochs", 1, "number of measured epochs, after epoch 0, in which workers start")
	flag.StringVar(&o.packed, "packed", "", "fast or small: pack the photos beforehand, into a file in a temporary folder, and read that")
	flag.StringVar(&o.study, "study", "throughput", "study of the records, see package result; inference reads no data")
	flag.BoolVar(&o.shuffle, "shuffle", false, "shuffle the samples")
	flag.Float64Var(&o.speed, "speed", 0, "samples per second of a simulated device")
	flag.IntVar(&c.Workers, "workers", 2, "number of workers")
	flag.StringVar(&c.Data, "data", "", "name of the data in records")
	flag.StringVar(&c.Model, "model", "", "net that endtoend and inference run, or with -speed its name in records")
	flag.StringVar(&c.Simulated, "simulated", "", "text that says what is simulated in the records")
	flag.StringVar(&c.Help, "help", result.HelpOn, "on or off, for loader.Help")
	flag.Float64Var(&c.ConsumerSeconds, "consumer", 0, "seconds that the consumer takes per batch")
	flag.Func("batch", "samples per batch; for inference it can be given several times", func(text string) error {
		_, err := fmt.Sscan(text, &c.Batch)
		o.batches = append(o.batches, c.Batch)
		return err
	})
	pixels := flag.Bool("pixels", false, "write the evaluation tensors of all photos to standard output")
	make := flag.String("make", "", "make the data of a benchmark, such as volumes:8, print its folder, and exit")
	flag.StringVar(&o.serve, "serve", "", "give the batches of the work over this folder to the Python program that has started this one")
	decode := flag.Int("decode", 0, "decode the files that are the arguments this many times, and print the processor time of a photo")
	machine := flag.Bool("machine", false, "print the machine and the versions as records have them, and exit")
	flag.Parse()
	o.folder = flag.Arg(0)
	ctx := context.Background()
	var err error
	switch {
	case *machine:
		err = describe(ctx, os.Stdout)
	case *decode > 0:
		err = decodeFiles(flag.Args(), *decode, os.Stdout)
	case *make != "":
		err = makeData(ctx, *make, os.Stdout)
	case *pixels:
		err = writePixels(ctx, o, os.Stdout)
	case o.serve != "":
		err = serve(ctx, o)
	case o.study == string(result.Inference):
		err = inference(ctx, o, os.Stdout)
	default:
		err = records(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A line is a record, with two values that show whether another library does the same work: the mean
// of a field of the first epoch's middle batch, and the number of the net's parameters.
type line struct {
	Record     result.Record `json:"record"`
	Mean       *float64      `json:"mean,omitempty"`
	Parameters int           `json:"parameters,omitempty"`
}

func (l line) write(w io.Writer) error {
	if l.Record.Study != result.Loading {
		l.Record.Measured.Waits = nil // thousands, which only the loading study needs
	}
	return json.NewEncoder(w).Encode(l)
}

// records measures the work, epoch after epoch. Epoch 0 includes the making of the loader.
func records(ctx context.Context, o options, w io.Writer) (err error) {
	folder := o.folder
	if o.packed != "" {
		if folder, err = packPhotos(ctx, os.DirFS(o.folder), o.packed); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	ds, err := opened(o.work, folder, o.size, o.samples)
	if err != nil {
		return err
	}
	stored := int64(0)
	if o.work == "eval" || o.work == "train" {
		if stored, err = fileBytes(os.DirFS(folder)); err != nil {
			return err
		}
	}
	blank, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	run := bench.Run{Study: result.Study(o.study), Config: o.config, Dataset: ds, Options: []loader.Option{loader.Shuffle(o.shuffle)}}
	run.Device = bench.SimulatedDevice(o.speed)
	parameters := 0
	if run.Study == result.EndToEnd && o.speed == 0 {
		net, err := builtNet(o.config.Model, o.config.Batch, o.size)
		if err != nil {
			return err
		}
		defer net.Close()
		run.Feed, run.Config.Device, parameters = net.Feed.Run, "cpu", net.Parameters()
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for epoch := range o.epochs + 1 {
		l := line{Record: blank, Parameters: parameters}
		var memory []result.Usage
		run.Look = nil
		switch {
		case run.Study == result.Profile:
			run.Config.Device, run.Config.Span = "cpu", result.FirstBatch
			if epoch > 0 {
				run.Config.Span = result.Epoch
			}
		case epoch == 0:
			middle := (ds.Len() + o.config.Batch - 1) / o.config.Batch / 2
			run.Look = func(b *loader.Batch) error {
				if b.Number() != middle {
					return nil
				}
				mean := meanOf(loader.Values[float32](b, works[o.work].tell))
				l.Mean = &mean
				mb, err := memoryMB()
				memory = []result.Usage{{RSS: int64(mb * 1e6)}}
				return err
			}
		}
		m, err := run.Epoch(ctx, epoch)
		if err != nil {
			return err
		}
		if memory != nil {
			m.Usage = memory
		}
		m.DataBytes = stored
		l.Record.Study, l.Record.Epoch, l.Record.Config, l.Record.Measured = run.Study, epoch, run.Config, m
		if err := l.write(w); err != nil {
			return err
		}
	}
	return nil
}

func meanOf(values []float32) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

func writePixels(ctx context.Context, o options, w io.Writer) error {
	ds, err := opened("eval", o.folder, o.size, 0)
	if err != nil {
		return err
	}
	l, err := loader.New(ds, loader.BatchSize(16))
	if err != nil {
		return err
	}
	defer l.Close()
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
