package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
)

// builtNet returns the net of that name, after a first run.
func builtNet(name string, rows, size int) (*model.Net, error) {
	kinds := model.Kinds()
	at := slices.IndexFunc(kinds, func(k model.Kind) bool { return k.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("penstock: -model %q: there is no such net", name)
	}
	net, err := kinds[at].New(rows, size)
	if err != nil {
		return nil, err
	}
	return net, net.Infer(make([]float32, rows*3*size*size))
}

// inference measures a net alone, on gorgonia's VM, for every batch size, over at least o.samples
// images.
func inference(ctx context.Context, o options, w io.Writer) error {
	blank, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 5))
	for _, batch := range o.batches {
		net, err := builtNet(o.config.Model, batch, o.size)
		if err != nil {
			return err
		}
		images := make([]float32, batch*3*o.size*o.size)
		for i := range images {
			images[i] = float32(r.NormFloat64())
		}
		l := line{Record: blank, Parameters: net.Parameters()}
		l.Record.Study = result.Inference
		l.Record.Config = result.Config{Batch: batch, Data: o.config.Data, Model: o.config.Model, Device: "cpu"}
		l.Record.Measured, err = bench.Inferred(ctx, batch, max(o.samples, batch), func() error { return net.Infer(images) })
		if err != nil {
			return err
		}
		net.Close()
		if err := l.write(w); err != nil {
			return err
		}
	}
	return nil
}
