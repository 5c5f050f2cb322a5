//go:build cgo

// Onnx measures EfficientNet-Lite0 and a vision transformer in ONNX Runtime from Go,
// without loading, as the fifth study does with gorgonia's nets. It takes the
// arguments of the programs in bench/peers and prints the same lines.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/nets"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

// The nets.
const (
	lite0   = "efficientnet-lite0"
	vitTiny = "vit-tiny" // with random weights, which take the same time
)

// options are what the flags say.
type options struct {
	data    string
	model   string
	size    int
	samples int
	batches []int
}

func main() {
	var o options
	study := flag.String("study", string(result.Inference), "the study of the records; there is no other one")
	flag.StringVar(&o.data, "data", "random", "what records call the data")
	flag.StringVar(&o.model, "model", lite0, lite0+" or "+vitTiny)
	flag.IntVar(&o.size, "size", nets.Lite0Size, "pixels of a side of an image, which the nets fix")
	flag.IntVar(&o.samples, "samples", 128, "images of a measurement, at least")
	flag.Func("batch", "images of a batch, any number of times", func(text string) error {
		var n int
		_, err := fmt.Sscan(text, &n)
		if err == nil && n < 1 {
			err = errors.New("want 1 or more")
		}
		o.batches = append(o.batches, n)
		return err
	})
	flag.Parse()
	err := fmt.Errorf("-study %s -size %d: want %s and %d", *study, o.size, result.Inference, nets.Lite0Size)
	if *study == string(result.Inference) && o.size == nets.Lite0Size {
		err = run(context.Background(), o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A line is a record, and the number of weights, which shows that a peer runs the
// same net.
type line struct {
	Record     result.Record `json:"record"`
	Parameters int           `json:"parameters"`
}

func run(ctx context.Context, o options, w io.Writer) (err error) {
	files, err := model.Find(model.Folder())
	if err != nil {
		return err
	}
	parameters := nets.Lite0Parameters
	if o.model == vitTiny {
		dir, err := os.MkdirTemp("", "vit-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		files.Net, parameters = filepath.Join(dir, "vit.onnx"), nets.ViTTiny.Parameters()
		if err := os.WriteFile(files.Net, nets.ViTTiny.Random(1), 0o666); err != nil {
			return err
		}
	} else if o.model != lite0 {
		return fmt.Errorf("-model %q: want %s or %s", o.model, lite0, vitTiny)
	}
	stop, err := ort.Start(files.Library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	session, err := ort.Open(files.Net, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	blank, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	blank.Study = result.Inference
	blank.Versions["onnxruntime"] = ort.Version()
	for _, batch := range o.batches {
		l := line{Record: blank, Parameters: parameters}
		l.Record.Config = result.Config{Batch: batch, Data: o.data, Model: o.model, Device: "cpu"}
		if l.Record.Measured, err = measure(ctx, session, batch, o.samples); err != nil {
			return err
		}
		if err := json.NewEncoder(w).Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func measure(ctx context.Context, session *ort.Session, batch, samples int) (result.Measured, error) {
	r := rand.New(rand.NewPCG(1, 5))
	images, logits := make([]float32, batch*session.Values()), make([]float32, batch*session.Classes())
	for i := range images {
		images[i] = float32(r.NormFloat64())
	}
	return bench.Inferred(ctx, batch, max(samples, batch), func() error { return session.Run(images, logits, batch) })
}
